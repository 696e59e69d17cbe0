// SPDX-License-Identifier: Apache-2.0
import Glibc
internal import JSON
import Store
package import Text

/// What names a notification; compare the owner's bytes as well, because two texts may be equal that only look alike.
struct NotificationKey: Hashable {
    let owner: String
    let id: Int32
}

/// The op that records the first reading.
let readOp = "read"

extension FileSiteStore {
    package func createNotification(
        token: String?, owner: String, sender: String, payload: String, isPlain: Bool, now: Timestamp,
        expiresAt: Timestamp
    ) throws(StoreError) -> SecureNotification {
        try notificationTable.write(owner, now: now) { (bucket) throws(StoreError) -> SecureNotification in
            try notificationSummaries.withSummary(of: bucket) { (summary) throws(StoreError) -> SecureNotification in
                var random = KernelRandom()
                let knowsIDs = summary.records < BucketSummary.maximumRecords
                let id = NotificationNames.id(using: &random) { !knowsIDs || summary.isFree($0) }
                var new = SecureNotification(
                    id: id, token: token ?? NotificationNames.token(using: &random), owner: owner, sender: sender,
                    payload: payload, isPlain: isPlain, isRead: false, createdAt: now,
                    sequence: context.sequence.next(), expiresAt: expiresAt)
                var leaving: [UInt8] = []
                // Most buckets hold so little, all owners in it together, that they need not be read.
                if !knowsIDs || !hasRoom(for: new, bucket, summary) {
                    let held = try mailbox(owner, in: bucket.forEachPiece)
                    while held[new.id] != nil { new.id = NotificationNames.id(using: &random) }
                    leaving = try removals(for: new, from: held, now)
                }
                let line = new.line
                try bucket.append(leaving + line)
                summary.append(new.id, line, to: bucket)
                return new
            }
        }
    }

    /// Whether the bucket holds less than one sender may leave, all owners and senders together.
    private func hasRoom(for new: SecureNotification, _ bucket: BucketWriter, _ summary: BucketSummary) -> Bool {
        let quotas = context.options.quotas
        let records = new.isPlain ? quotas.plainMessagesPerOwner : quotas.notificationsPerSender
        let bytes = new.isPlain ? quotas.plainMessageBytesPerOwner : quotas.notificationBytesPerSender
        return summary.records < records && bucket.size + new.size <= bytes
    }

    /// The lines that make room for the notification.
    private func removals(
        for new: SecureNotification, from held: [Int32: NotificationSummary], _ now: Timestamp
    ) throws(StoreError) -> [UInt8] {
        let live = held.values.filter { $0.expiresAt > now }
        return try MailboxRoom(live, context.options.quotas, isPlain: new.isPlain)
            .leaving(for: new.sender, adding: new.size, now: now)
            .flatMap { LineCodec.removal(of: .number(String($0)), owner: new.owner) }
    }

    package func notification(
        _ id: Int32, owner: String, now: Timestamp
    ) throws(StoreError) -> SecureNotification? {
        let key = NotificationKey(owner: owner, id: id)
        if let known = notificationCache.record(key), known.owner.hasSameBytes(as: owner) {
            return known.expiresAt > now ? known : nil
        }
        let asked = FileIdentity.clock
        guard let (file, _) = try notificationTable.open(notificationTable.hash(of: owner), O_RDONLY) else {
            return nil
        }
        let state = BucketContent(bytes: [], name: file.name, identity: try file.identity())
        let found = try notification(key, now, in: file)
        // A caller that found it unread is about to change that.
        if let found, found.isRead {
            notificationCache.remember(
                found, as: key, bytes: owner.utf8.count + found.sender.utf8.count + found.payload.utf8.count,
                of: state, in: context, asked: asked)
        }
        return found
    }

    /// Something that calls with the pieces of a file.
    typealias Pieces = ((BucketContent) throws(StoreError) -> Void) throws(StoreError) -> Void

    private func notification(
        _ key: NotificationKey, _ now: Timestamp, in file: OpenFile
    ) throws(StoreError) -> SecureNotification? {
        var found: SecureNotification?
        let table = notificationTable
        func search(_ piece: BucketContent) {
            table.forEachLine(piece, key: key.owner, id: .number(String(key.id))) { line in
                switch line.op {
                case nil: found = SecureNotification(line: line.value)
                case deleteOp: found = nil
                case readOp: found?.isRead = true
                case _?: break
                }
            }
        }
        if let lines = try table.indexedLines(of: key.owner, id: .number(String(key.id)), in: file, file.identity()) {
            search(lines)
        } else {
            try BucketTable.forEachPiece(of: file) { piece in search(piece) }
        }
        return found.flatMap { $0.expiresAt > now ? $0 : nil }
    }

    package func notification(
        token: String, owner: String, now: Timestamp
    ) throws(StoreError) -> SecureNotification? {
        guard NotificationNames.isToken(token),
            let summary = try mailbox(owner).values.first(where: { $0.token == token })
        else { return nil }
        let found = try notification(summary.id, owner: owner, now: now)
        return found?.token == token ? found : nil
    }

    package func notifications(
        owner: String, unreadOnly: Bool, secureOnly: Bool, after: Int32?, limit: Int, now: Timestamp
    ) throws(StoreError) -> [NotificationSummary] {
        var found = try mailbox(owner).values.filter { $0.expiresAt > now }
        found.sort { $1.isOlder(than: $0) }
        if let after, let index = found.firstIndex(where: { $0.id == after }) { found.removeSubrange(...index) }
        if unreadOnly || secureOnly { found.removeAll { unreadOnly && $0.isRead || secureOnly && $0.isPlain } }
        return Array(found.prefix(max(0, limit)))
    }

    /// What the owner has, expired ones too. Of their payloads no more is in memory than the file's piece that is looked at.
    private func mailbox(_ owner: String) throws(StoreError) -> [Int32: NotificationSummary] {
        guard let (file, _) = try notificationTable.open(notificationTable.hash(of: owner), O_RDONLY) else {
            return [:]
        }
        return try mailbox(owner) { (body) throws(StoreError) in try BucketTable.forEachPiece(of: file, body) }
    }

    func mailbox(
        _ owner: String, in forEachPiece: Pieces
    ) throws(StoreError) -> [Int32: NotificationSummary] {
        var found: [Int32: NotificationSummary] = [:]
        let probe = LinePrefilter(notificationTable.schema, key: owner, id: nil)
        // Not `CurrentRecords`, which needs all of the file in memory.
        try forEachPiece { piece in
            piece.forEachLine { raw in
                switch probe.examine(raw.bytes) {
                case .other: return
                case .record:
                    if let summary = NotificationSummary(ownLine: raw.bytes) { return found[summary.id] = summary }
                case .unclear: break
                }
                guard let line = notificationTable.decode(raw, of: piece), line.key.hasSameBytes(as: owner) else {
                    return
                }
                Self.apply(line, size: raw.bytes.count + 1, to: &found)
            }
        }
        return found
    }

    private static func apply(_ line: Line, size: Int, to found: inout [Int32: NotificationSummary]) {
        guard let id = line.id.integer.flatMap(Int32.init(exactly:)) else { return }
        switch line.op {
        case nil:
            if let whole = SecureNotification(line: line.value) { found[id] = NotificationSummary(whole, size: size) }
        case deleteOp: found[id] = nil
        case readOp: found[id]?.isRead = true
        case _?: break
        }
    }

    package func readNotification(
        _ id: Int32, owner: String, now: Timestamp
    ) throws(StoreError) -> SecureNotification? {
        let seen = try notification(id, owner: owner, now: now)
        guard let seen, !seen.isRead else { return seen }
        // Only who finds it unread under the lock is the first.
        return try notificationTable.write(owner, now: now) { (bucket) throws(StoreError) -> SecureNotification? in
            let key = NotificationKey(owner: owner, id: id)
            guard let found = try notification(key, now, in: bucket.file) else { return nil }
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

    package func removeNotification(_ id: Int32, owner: String, now: Timestamp) throws(StoreError) -> Bool {
        guard try notification(id, owner: owner, now: now) != nil else { return false }
        return try notificationTable.write(owner, now: now) { (bucket) throws(StoreError) -> Bool in
            let key = NotificationKey(owner: owner, id: id)
            guard try notification(key, now, in: bucket.file) != nil else { return false }
            try bucket.append(LineCodec.removal(of: .number(String(id)), owner: owner))
            return true
        }
    }
}
