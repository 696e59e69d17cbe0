// SPDX-License-Identifier: Apache-2.0
import CPlatform
import Glibc
internal import JSON
import Store
import System

/// A waiting message as a line of the queue's file. All lines have one key, so the file is never split: who delivers
/// looks at one file, and a write of many messages is one flush.
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

/// When the file of a full queue was last looked through for what has been delivered; that takes reading all of it.
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
    static let hubQueue = TableSchema(
        name: QueuedLine.table, key: QueuedLine.keyName, beginsWhole: true, expires: true
    ) { QueuedLine(line: $0) != nil }
}

extension FileSiteStore {
    package func enqueueHubMessage(_ message: HubMessage) throws(StoreError) {
        try Self.checkReadable(message)
        let line = LineCodec.encode { QueuedLine(message).write(to: &$0) }
        if isQueueFull(for: line), queueTidying.isDue(pause: context.options.queueTidyPause) {
            try queueTable.tidy(queueTable.hash(of: QueuedLine.key), now: message.createdAt)
        }
        guard !isQueueFull(for: line) else { throw .quotaExceeded }
        try queueTable.write(QueuedLine.key, now: message.createdAt) { (bucket) throws(StoreError) in
            try bucket.append(line)
        }
    }

    /// Writers at the same moment may exceed the limit by a line each.
    private func isQueueFull(for line: [UInt8]) -> Bool {
        (queueFile?.size ?? 0) + line.count > context.options.quotas.queueBytes
    }

    package func queuedHubMessage(_ id: String) throws(StoreError) -> HubMessage? {
        let content = try queueTable.read(QueuedLine.key)
        return queueTable.current(QueuedLine.key, id: .string(id), in: content).flatMap { HubMessage(line: $0) }
    }

    package func queuedHubMessages(except ids: Set<String>, limit: Int) throws(StoreError) -> [HubMessage] {
        var found: [(place: Int, message: HubMessage)] = []
        let records = CurrentRecords(try queueTable.read(QueuedLine.key), queueTable, key: QueuedLine.key)
        for record in records.all where !ids.contains(record.name.idText) {
            if let message = records.line(of: record).flatMap({ HubMessage(line: $0.value) }) {
                found.append((record.first.number, message))
            }
        }
        let oldestFirst = found.sorted { ($0.message.createdAt, $0.place) < ($1.message.createdAt, $1.place) }
        return oldestFirst.prefix(max(0, limit)).map(\.message)
    }

    package func updateQueuedHubMessages(_ messages: [HubMessage]) throws(StoreError) {
        var lines: [UInt8] = []
        for message in messages {
            try Self.checkReadable(message)
            lines += LineCodec.encode { QueuedLine(message).write(to: &$0) }
        }
        guard !lines.isEmpty else { return }
        try queueTable.write(QueuedLine.key) { (bucket) throws(StoreError) in try bucket.append(lines) }
    }

    package func removeQueuedHubMessages(_ ids: [String]) throws(StoreError) {
        let lines = ids.flatMap(QueuedLine.removal)
        guard !lines.isEmpty else { return }
        try queueTable.write(QueuedLine.key, durably: false) { (bucket) throws(StoreError) in try bucket.append(lines) }
    }

    package func hubQueueRevision() -> QueueRevision {
        guard let file = queueFile else { return QueueRevision([]) }
        return QueueRevision([Int(truncatingIfNeeded: file.inode), file.size, file.changedAt])
    }

    /// The kernel gives the lock back when the descriptor is closed, and it closes that of a process that was killed.
    package func acquireDeliveryLease() throws(StoreError) -> DeliveryLease? {
        try context.checkWritable()
        let name = "lock/hub-delivery"
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

    private var queueFile: FileIdentity? {
        FileIdentity(path: context.path + "/" + QueuedLine.table + BucketTable.fileSuffix)
    }
}
