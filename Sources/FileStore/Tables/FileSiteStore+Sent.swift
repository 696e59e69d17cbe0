// SPDX-License-Identifier: Apache-2.0
import Glibc
internal import JSON
import Store
package import Text

extension FileSiteStore {
    /// Only appends, so it costs the same whatever the owner has sent before. Those that are too many are dropped when the
    /// file is rewritten, and until then `hasSent` passes them over.
    ///
    /// A message's record comes first, so that what may be asked for is there.
    package func rememberSent(
        _ ids: [String], message: SentMessage?, owner: String, now: Timestamp, expiresAt: Timestamp
    ) throws(StoreError) {
        // One line for a message that the hub has a name of: each line more brings the next rewriting nearer.
        let names = ids.isEmpty ? message.map { [$0.id] } ?? [] : ids
        guard !names.isEmpty else { return }
        if let message {
            try sentMessageTable.write(message.id, now: now, durably: false) { (bucket) throws(StoreError) in
                try bucket.append(LineCodec.encode { message.write(to: &$0) })
            }
        }
        let lines = names.indices.flatMap { index in
            // Of several the last is the last that is forgotten.
            let sent = SentNotification(
                id: names[index], owner: owner, message: index == ids.indices.last ? message?.id : nil,
                expiresAt: expiresAt)
            return LineCodec.encode { sent.write(to: &$0) }
        }
        try sentTable.write(owner, now: now, durably: false) { (bucket) throws(StoreError) in try bucket.append(lines) }
    }

    package func hasSent(_ id: String, owner: String, now: Timestamp) throws(StoreError) -> Bool {
        let records = CurrentRecords(try sentTable.read(owner), sentTable, key: owner)
        guard let record = records.record(id: .string(id), key: owner),
            records.all.count(where: { $0.newest.start > record.newest.start }) < context.options.quotas.sentPerOwner,
            let sent = records.line(of: record).flatMap({ SentNotification(line: $0.value) })
        else { return false }
        return sent.expiresAt > now
    }

    package func sentMessage(_ id: String, now: Timestamp) throws(StoreError) -> SentMessage? {
        let message = sentMessageTable.current(id, in: try sentMessageTable.read(id)).flatMap(SentMessage.init(line:))
        return message.flatMap { $0.expiresAt > now ? $0 : nil }
    }

    /// So many messages are held at once beyond those that are asked for.
    private static let messagesAtOnce = 1_000

    package func sentMessages(
        owner: String?, behind place: SentMessage.Place?, limit: Int, now: Timestamp,
        where isWanted: (SentMessage) -> Bool
    ) throws(StoreError) -> [SentMessage] {
        let limit = max(0, limit)
        var found: [SentMessage] = []
        func newest() -> [SentMessage] { Array(found.sorted { $0.place > $1.place }.prefix(limit)) }
        try sentMessageTable.forEachFile { (content, _) throws(StoreError) in
            found += CurrentRecords(content, sentMessageTable).decoded(as: SentMessage.self).filter { message in
                message.expiresAt > now && owner.map { message.owner.hasSameBytes(as: $0) } ?? true
                    && place.map { message.place < $0 } ?? true && isWanted(message)
            }
            if found.count - Self.messagesAtOnce > limit { found = newest() }
        }
        return newest()
    }

    @discardableResult
    package func noteOpening(_ opening: MessageOpening, now: Timestamp) throws(StoreError) -> Bool {
        try openingTable.write(opening.message, now: now, durably: false) { (bucket) throws(StoreError) -> Bool in
            let id = JSONValue.string(opening.opener)
            let lines = try openingTable.lines(of: opening.message, id: id, in: bucket.file)
            guard openingTable.current(opening.message, id: id, in: lines) == nil else { return false }
            try bucket.append(LineCodec.encode { opening.write(to: &$0) })
            return true
        }
    }

    package func openings(ofMessage id: String, now: Timestamp) throws(StoreError) -> Int {
        let openings = CurrentRecords(try openingTable.read(id), openingTable, key: id)
            .decoded(as: MessageOpening.self)
        return min(openings.count { $0.expiresAt > now }, context.options.quotas.openersPerMessage)
    }
}

extension SentNotification {
    /// The message that is forgotten together with it. Earlier versions remembered each message by its own id.
    var forgottenMessage: String? { message ?? (NotificationNames.isToken(id) ? id : nil) }
}

extension BucketTable {
    /// Removes the records of these ids, in a table whose key is the id, where there are files that could hold them. A line
    /// that removes what is not there goes when its file is rewritten. What fails is reported: this is tidying.
    func forget(_ ids: [String]) {
        // Hundreds come at once, and those of one file are removed by one write.
        let files = Dictionary(grouping: ids) { id in
            let hash = hash(of: id)
            return path(hash, depth: depth(hash))
        }
        for ids in files.values {
            do throws(StoreError) {
                try remove(ids, inFileOf: hash(of: ids[0]))
            } catch {
                context.report(.tidyingFailed(file: schema.name, error))
            }
        }
    }

    private func remove(_ ids: [String], inFileOf hash: UInt64) throws(StoreError) {
        try withLock(hash) { () throws(StoreError) in
            guard let (file, _) = try open(hash, O_RDWR | O_APPEND) else { return }
            try BucketWriter(context, file).append(ids.flatMap { LineCodec.removal(of: $0, version: 1) })
        }
    }
}
