// SPDX-License-Identifier: Apache-2.0
import Glibc
internal import JSON

/// What names a notification; compare the owner's bytes as well, because two texts may be equal that only look alike.
struct NotificationKey: Hashable {
    let owner: String
    let id: Int32
}

/// The op that records the first reading.
let readOp = "read"

extension FileStore {
    package func createNotification(
        owner: String, payload: String, now: Timestamp, expiresAt: Timestamp
    ) throws(StoreError) -> SecureNotification {
        try notificationTable.write(owner, now: now) { (bucket) throws(StoreError) -> SecureNotification in
            try notificationSummaries.withSummary(of: bucket) { (summary) throws(StoreError) -> SecureNotification in
                var random = KernelRandom()
                let id = try freeID(owner, adding: payload, bucket, summary, now, using: &random)
                let new = SecureNotification(
                    id: id, token: NotificationNames.token(using: &random), owner: owner, payload: payload,
                    isRead: false, createdAt: now, expiresAt: expiresAt)
                let line = LineCodec.encode { new.write(to: &$0) }
                try bucket.append(line)
                summary.append(id, line, to: bucket)
                return new
            }
        }
    }

    /// An id that the owner does not have.
    /// - Throws: `quotaExceeded`, when he has as much as he may have.
    private func freeID(
        _ owner: String, adding payload: String, _ bucket: BucketWriter, _ summary: BucketSummary, _ now: Timestamp,
        using random: inout KernelRandom
    ) throws(StoreError) -> Int32 {
        // Most buckets hold so little, all owners in it together, that they need not be read.
        let options = context.options
        let added = payload.utf8.count + Self.notificationOverhead
        if summary.records < min(options.caps.notificationsPerOwner, BucketSummary.maximumRecords),
            bucket.size + added <= options.caps.notificationBytesPerOwner
        {
            return NotificationNames.id(using: &random) { summary.isFree($0) }
        }
        let taken = try checkQuota(owner, adding: added, try bucket.content(), now)
        return NotificationNames.id(using: &random) { !taken.contains($0) }
    }

    /// What a notification takes beside its payload, in bytes.
    package static let notificationOverhead = 256

    /// - Returns: the ids that the owner has in the bucket, also expired ones.
    private func checkQuota(
        _ owner: String, adding added: Int, _ content: BucketContent, _ now: Timestamp
    ) throws(StoreError) -> Set<Int32> {
        let options = context.options
        let ids = notificationTable.ids(owner, in: content)
        // Nothing has to be parsed where the owner has not been given as many, be they removed.
        if ids.count < options.caps.notificationsPerOwner,
            content.bytes.count + added <= options.caps.notificationBytesPerOwner
        {
            return ids
        }
        let live = notifications(owner, in: content, now)
        let bytes = live.reduce(added) { $0 + $1.payload.utf8.count + Self.notificationOverhead }
        guard live.count < options.caps.notificationsPerOwner, bytes <= options.caps.notificationBytesPerOwner else {
            throw .quotaExceeded
        }
        return ids
    }

    package func notification(
        _ id: Int32, owner: String, now: Timestamp
    ) throws(StoreError) -> SecureNotification? {
        if let known = notificationCache.record(NotificationKey(owner: owner, id: id)),
            known.owner.hasSameBytes(as: owner)
        {
            return known.expiresAt > now ? known : nil
        }
        let asked = FileIdentity.clock
        guard let content = try notificationTable.read(owner),
            let found = notification(id, owner, in: content, now)
        else { return nil }
        // Whoever found it unread is about to change that.
        if found.isRead {
            notificationCache.remember(
                found, as: NotificationKey(owner: owner, id: id), bytes: owner.utf8.count + found.payload.utf8.count,
                of: content, in: context, asked: asked)
        }
        return found
    }

    private func notification(
        _ id: Int32, _ owner: String, in content: BucketContent?, _ now: Timestamp
    ) -> SecureNotification? {
        var found: SecureNotification?
        notificationTable.forEachLastLine(content, key: owner, id: .number(String(id))) { line in
            Self.apply(line, to: &found)
        }
        return found.flatMap { $0.expiresAt > now ? $0 : nil }
    }

    package func notification(
        token: String, owner: String, now: Timestamp
    ) throws(StoreError) -> SecureNotification? {
        guard NotificationNames.isToken(token) else { return nil }
        let content = try notificationTable.read(owner)
        return notifications(owner, in: content, now).first { $0.token == token }
    }

    package func notifications(
        owner: String, unreadOnly: Bool, after: Int32?, limit: Int, now: Timestamp
    ) throws(StoreError) -> [SecureNotification] {
        var found = notifications(owner, in: try notificationTable.read(owner), now)
        found.sort { ($0.createdAt, $0.id) > ($1.createdAt, $1.id) }
        if let after, let index = found.firstIndex(where: { $0.id == after }) { found.removeSubrange(...index) }
        if unreadOnly { found.removeAll { $0.isRead } }
        return Array(found.prefix(max(0, limit)))
    }

    /// The owner's notifications that have not expired, in no order.
    private func notifications(
        _ owner: String, in content: BucketContent?, _ now: Timestamp
    ) -> [SecureNotification] {
        var found: [JSONValue: SecureNotification] = [:]
        notificationTable.forEachLine(content, key: owner, id: nil) { Self.apply($0, to: &found[$0.id]) }
        return found.values.filter { $0.expiresAt > now }
    }

    package func readNotification(
        _ id: Int32, owner: String, now: Timestamp
    ) throws(StoreError) -> SecureNotification? {
        let seen = try notification(id, owner: owner, now: now)
        guard let seen, !seen.isRead else { return seen }
        // Only who finds it unread under the lock is the first.
        return try notificationTable.write(owner, now: now) { (bucket) throws(StoreError) -> SecureNotification? in
            guard let found = notification(id, owner, in: try bucket.content(), now) else { return nil }
            guard !found.isRead else { return found }
            try bucket.append(
                LineCodec.encode {
                    $0.member("id", id)
                    $0.member("op", readOp)
                    $0.member("owner", owner)
                    $0.member("at", now.text)
                })
            return found
        }
    }

    private static func apply(_ line: Line, to notification: inout SecureNotification?) {
        switch line.op {
        case nil: notification = SecureNotification(line: line.value)
        case deleteOp: notification = nil
        case readOp: notification?.isRead = true
        case _?: break
        }
    }
}

extension BucketTable {
    /// The ids that have any line under that owner.
    fileprivate func ids(_ owner: String, in content: BucketContent) -> Set<Int32> {
        var ids: Set<Int32> = []
        forEachID(content, key: owner) { id, _ in
            if let id = Int32(id) { ids.insert(id) }
        }
        return ids
    }
}

extension SecureNotification: LineRecord {
    static let members: Set = ["id", "owner", "token", "payload", "read", "createdAt", "expiresAt"]

    init?(line: JSONValue) {
        guard let id = line["id"]?.integer.flatMap(Int32.init(exactly:)), id > 0,
            let token = line["token"]?.string, let owner = line["owner"]?.string,
            let payload = line["payload"]?.string, let createdAt = line.time("createdAt"),
            let expiresAt = line.time("expiresAt")
        else { return nil }
        let isRead = line["read"]
        guard isRead == nil || isRead?.bool != nil else { return nil }
        self.init(
            id: id, token: token, owner: owner, payload: payload, isRead: isRead?.bool ?? false,
            createdAt: createdAt, expiresAt: expiresAt)
    }

    func write(to json: inout JSONWriter) {
        json.member("id", id)
        json.member("owner", owner)
        json.member("token", token)
        json.member("payload", payload)
        // A reading is a line of its own; here it stands in a record that came from elsewhere, or was edited.
        if isRead { json.member("read", true) }
        json.member("createdAt", createdAt.text)
        json.member("expiresAt", expiresAt.text)
    }
}

/// The two names of a notification, both drawn from the system's random numbers.
package enum NotificationNames {
    /// Neither 0, which is what junk parses to, nor 2^31 - 1, at which the tutorials' clients saturate.
    static let ids: ClosedRange<Int32> = 1...(.max - 1)
    /// 128 bits in base64url without padding.
    static let tokenLength = 22

    private static let digits = [UInt8]("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// Ends because the caps leave far more ids free than taken.
    package static func id(using random: inout KernelRandom, where isFree: (Int32) -> Bool = { _ in true }) -> Int32 {
        while true {
            let id = Int32.random(in: ids, using: &random)
            if isFree(id) { return id }
        }
    }

    /// The last character carries two bits only (`A`, `Q`, `g` or `w`), so a token never looks like an id.
    package static func token(using random: inout KernelRandom) -> String {
        var bits: UInt64 = random.next()
        let more: UInt64 = random.next()
        var token: [UInt8] = []
        token.reserveCapacity(tokenLength)
        for index in 0..<tokenLength {
            // A word of 64 bits is good for ten characters of 6.
            if index == 10 { bits = more }
            if index == 20 { bits = random.next() }
            let isLast = index == tokenLength - 1
            token.append(digits[Int(isLast ? (bits & 3) << 4 : bits & 63)])
            bits >>= 6
        }
        return String(decoding: token, as: UTF8.self)
    }

    static func isToken(_ text: String) -> Bool {
        text.utf8.count == tokenLength && text.utf8.allSatisfy { digits.contains($0) }
    }
}
