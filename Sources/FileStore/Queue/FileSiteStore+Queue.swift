// SPDX-License-Identifier: Apache-2.0
import CPlatform
import Glibc
internal import JSON
import Store
import System
package import Text

/// A waiting message as a line of the queue's file, or of the file of its hour. All lines have one key, so a file is never
/// split: a look reads few files, and a write of many messages is one flush.
struct QueuedLine: LineRecord {
    static let table = "hub/queue"
    static let keyName = "queue"
    static let key = "hub"
    static let members: Set = HubMessage.members.union([keyName])

    let message: HubMessage

    init(_ message: HubMessage) {
        self.message = message
    }

    init?(line: JSONValue) {
        guard let message = HubMessage(line: line) else { return nil }
        self.message = message
    }

    func write(to json: inout JSONWriter) {
        json.member("id", message.id)
        json.member(Self.keyName, Self.key)
        message.writeRest(to: &json)
    }

    static func removal(_ id: String) -> [UInt8] {
        LineCodec.encode {
            $0.member("id", id)
            $0.member("op", deleteOp)
            $0.member(keyName, key)
        }
    }
}

/// When the files of a full queue were last looked through for what has been delivered; that takes reading all of them.
final class QueueTidying: Sendable {
    private let last = Lock<ContinuousClock.Instant?>(nil)

    func isDue(pause: Duration) -> Bool {
        last.withLock { last in
            let now = ContinuousClock.now
            if let last, now < last + pause { return false }
            last = now
            return true
        }
    }
}

extension TableSchema {
    /// Messages that are due.
    static let hubQueue = queue(QueuedLine.table) { $0 == nil }

    /// Events that wait for their receivers.
    static let webhooks = queue("webhooks") { $0 == nil }

    /// Users' messages for later.
    static var scheduledSends: TableSchema {
        var schema = queue("scheduled") { $0 == nil }
        schema.erasesRemoved = true
        return schema
    }

    /// Messages that are due in that hour.
    static func due(_ hour: DueHour, _ folder: String) -> TableSchema {
        queue(folder + "/" + hour.name) { $0.map(hour.contains) ?? false }
    }

    private static func queue(
        _ name: String, _ isPlace: @escaping @Sendable (_ notBefore: Timestamp?) -> Bool
    ) -> TableSchema {
        TableSchema(name: name, key: QueuedLine.keyName, beginsWhole: true, expires: true) {
            QueuedLine(line: $0).map { isPlace($0.message.notBefore) } ?? false
        }
    }
}

extension FileSiteStore {
    package func enqueueHubMessage(_ message: HubMessage) throws(StoreError) {
        try message.document.checkDocument()
        let line = LineCodec.encode { QueuedLine(message).write(to: &$0) }
        let now = message.createdAt
        do throws(StoreError) {
            try checkQueueRoom(for: line, message)
        } catch {
            guard error.isOfRoom, queueTidying.isDue(pause: context.options.queueTidyPause) else { throw error }
            try tidyQueue(now: now)
            try checkQueueRoom(for: line, message)
        }
        try queueFile(of: message).write(QueuedLine.key, now: now) { (bucket) throws(StoreError) in
            try bucket.append(line)
        }
    }

    /// The one file that the message is in as long as it waits.
    func queueFile(of message: HubMessage) -> BucketTable { queueFile(notBefore: message.notBefore) }

    private func queueFile(notBefore: Timestamp?) -> BucketTable {
        notBefore.map { dueFiles.table(DueHour(of: $0)) } ?? queueTable
    }

    /// Writers at the same moment may exceed the limit by a line each.
    /// - Throws: `quotaExceeded`, `shareExceeded`, when the queue has no room for the message; what reading it throws.
    private func checkQueueRoom(for line: [UInt8], _ message: HubMessage) throws(StoreError) {
        let quotas = context.options.quotas
        if let notBefore = message.notBefore {
            guard notBefore <= message.createdAt + quotas.scheduledSeconds,
                try dueFiles.size() + line.count <= quotas.scheduledBytes
            else { throw .quotaExceeded }
            return
        }
        let room = quotas.queueRoom
        // What has gone may lie in the file for a while: what waits is counted where it matters.
        guard let size = queueIdentity?.size, line.count > room.free - size,
            let (file, _) = try queueTable.open(queueTable.hash(of: QueuedLine.key), O_RDONLY)
        else { return }
        let (all, own) = try queueTally.withLock { tally throws(StoreError) in
            try tally.catchUp(with: file, queueTable.schema)
            return (tally.bytes, message.owner.map { tally.bytes(of: $0) })
        }
        try room.check(adding: line.count, toAll: all, own: own)
    }

    private func tidyQueue(now: Timestamp) throws(StoreError) {
        try queueTable.tidy(queueTable.hash(of: QueuedLine.key), now: now)
        for hour in try dueFiles.hours() where hour.start <= now { try dueFiles.tidy(hour, now: now) }
    }

    package func queuedHubMessage(_ id: String, notBefore: Timestamp?) throws(StoreError) -> HubMessage? {
        let table = queueFile(notBefore: notBefore)
        let content = try table.read(QueuedLine.key)
        return table.current(QueuedLine.key, id: .string(id), in: content).flatMap { HubMessage(line: $0) }
    }

    package func dueHubMessages(
        except ids: Set<String>, limit: Int, now: Timestamp
    ) throws(StoreError) -> DueHubMessages {
        let limit = max(0, limit)
        var found = try readyMessages(except: ids)
        var (next, scheduled) = (Timestamp?.none, 0)
        for hour in try dueFiles.hours() {
            // Each file is of a later hour than the one before.
            guard hour.start <= now, scheduled < limit else {
                next = min(hour.start, next ?? hour.start)
                break
            }
            let inHour = try dueFiles.read(hour, except: ids, limit: limit - scheduled, now: now)
            found += inHour.messages
            scheduled += inHour.messages.count
            if let time = inHour.next { next = min(time, next ?? time) }
        }
        found.sort { ($0.message.dueAt, $0.place) < ($1.message.dueAt, $1.place) }
        return DueHubMessages(found.prefix(limit).map(\.message), next: next)
    }

    private func readyMessages(
        except ids: Set<String>
    ) throws(StoreError) -> [(message: HubMessage, place: Int)] {
        let records = CurrentRecords(try queueTable.read(QueuedLine.key), queueTable, key: QueuedLine.key)
        var found: [(message: HubMessage, place: Int)] = []
        for record in records.all where !ids.contains(record.name.idText) {
            if let message = records.line(of: record).flatMap({ HubMessage(line: $0.value) }) {
                found.append((message, record.first.number))
            }
        }
        return found
    }

    package func updateQueuedHubMessages(_ messages: [HubMessage]) throws(StoreError) {
        for message in messages { try message.document.checkDocument() }
        try append(messages, durably: true) { message in LineCodec.encode { QueuedLine(message).write(to: &$0) } }
    }

    package func removeQueuedHubMessages(_ messages: [HubMessage]) throws(StoreError) {
        try append(messages, durably: false) { QueuedLine.removal($0.id) }
    }

    /// Appends a line for each message, with one write to each of their files.
    private func append(
        _ messages: [HubMessage], durably: Bool, _ line: (HubMessage) -> [UInt8]
    ) throws(StoreError) {
        for (_, messages) in Dictionary(grouping: messages, by: { $0.notBefore.map(DueHour.init(of:)) }) {
            guard let table = messages.first.map(queueFile(of:)) else { continue }
            let lines = messages.flatMap(line)
            try table.write(QueuedLine.key, durably: durably) { (bucket) throws(StoreError) in try bucket.append(lines)
            }
        }
    }

    package func hubQueueRevision(now: Timestamp) -> QueueRevision {
        var state = Self.state(of: queueIdentity)
        do throws(StoreError) {
            for hour in try dueFiles.hours() {
                state.append(Int(hour.start.seconds))
                guard hour.start <= now else { break }
                state += Self.state(of: dueFiles.identity(hour))
            }
            return QueueRevision(state)
        } catch {
            // Unlike all others: the look that follows says what is wrong.
            return QueueRevision([])
        }
    }

    private static func state(of file: FileIdentity?) -> [Int] {
        file.map { [Int(truncatingIfNeeded: $0.inode), $0.size, $0.changedAt] } ?? [0, 0, 0]
    }

    package func acquireDeliveryLease() throws(StoreError) -> DeliveryLease? { try acquireLease("hub-delivery") }

    /// The kernel gives the lock back when the descriptor is closed, and it closes that of a process that was killed.
    func acquireLease(_ turn: String) throws(StoreError) -> DeliveryLease? {
        try context.checkWritable()
        let name = "lock/\(turn)"
        let file = platform_open(context.path + "/" + name, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw StoreError(errno, "open", name, writing: true) }
        guard platform_ofd_lock_byte(file, Int16(F_WRLCK), 0) == 0 else {
            let code = errno
            close(file)
            guard code == EAGAIN || code == EACCES || code == EINTR else {
                throw StoreError(code, "lock", name, writing: true)
            }
            return nil
        }
        let held = Lock<Int32?>(file)
        return DeliveryLease {
            guard let file = held.withLock({ $0.take() }) else { return }
            // A child that is just being started may hold a copy of the descriptor, and closing ours would not do.
            _ = platform_ofd_lock_byte(file, Int16(F_UNLCK), 0)
            close(file)
        }
    }

    private var queueIdentity: FileIdentity? {
        FileIdentity(path: context.path + "/" + QueuedLine.table + BucketTable.fileSuffix)
    }
}

extension StoreError {
    /// There is no room: what is tidied away may make some.
    fileprivate var isOfRoom: Bool {
        switch self {
        case .quotaExceeded, .shareExceeded: true
        default: false
        }
    }
}
