// SPDX-License-Identifier: Apache-2.0
import Glibc
internal import JSON
import Store
import System

extension FileSiteStore {
    package func putWaiting(_ entries: [HubMessage], in list: WaitingList) throws(StoreError) {
        guard !entries.isEmpty else { return }
        for entry in entries { try entry.document.checkDocument() }
        let lines = entries.flatMap { Self.line($0) }
        let table = table(of: list)
        try table.write(QueuedLine.key, durably: list.isDurable) { (bucket) throws(StoreError) in
            try checkRoom(for: entries, lines.count, in: list, bucket)
            try bucket.append(lines)
        }
    }

    /// What has gone may lie in the file for a while: what waits is counted where it matters. What waits already may change.
    private func checkRoom(
        for entries: [HubMessage], _ size: Int, in list: WaitingList, _ bucket: BucketWriter
    ) throws(StoreError) {
        let room = context.options.quotas.room(of: list)
        guard size > room.free - bucket.size else { return }
        let (all, own, isKnown) = try tally(of: list).withLock { tally throws(StoreError) in
            try tally.catchUp(with: bucket.file, table(of: list).schema)
            let isKnown = entries.allSatisfy { tally[$0.id] != nil }
            return (tally.bytes, entries.first?.owner.map { tally.bytes(of: $0) }, isKnown)
        }
        if !isKnown { try room.check(adding: size, toAll: all, own: own) }
    }

    package func waiting(in list: WaitingList, except ids: Set<String>) throws(StoreError) -> [HubMessage] {
        let table = table(of: list)
        let records = CurrentRecords(try table.read(QueuedLine.key), table, key: QueuedLine.key)
        return records.all.filter { !ids.contains($0.name.idText) }
            .compactMap { records.line(of: $0).flatMap { HubMessage(line: $0.value) } }
    }

    package func waiting(in list: WaitingList, of owner: String) throws(StoreError) -> [HubMessage] {
        guard let (file, _) = try table(of: list).open(table(of: list).hash(of: QueuedLine.key), O_RDONLY) else {
            return []
        }
        let entries = try tally(of: list).withLock { tally throws(StoreError) in
            try tally.catchUp(with: file, table(of: list).schema)
            return tally.entries(of: owner)
        }
        var found: [HubMessage] = []
        for entry in entries {
            // A line that cannot be read: the one before it counts.
            guard let message = try self.entry(entry, in: file, list) else {
                return try waiting(in: list).filter { $0.owner == nil || $0.owner?.hasSameBytes(as: owner) == true }
            }
            found.append(message)
        }
        return found
    }

    package func waitingEntry(_ id: String, in list: WaitingList) throws(StoreError) -> HubMessage? {
        guard let (file, _) = try table(of: list).open(table(of: list).hash(of: QueuedLine.key), O_RDONLY) else {
            return nil
        }
        return try entry(id, in: file, list)
    }

    private func entry(_ id: String, in file: OpenFile, _ list: WaitingList) throws(StoreError) -> HubMessage? {
        let table = table(of: list)
        let known = try tally(of: list).withLock { tally throws(StoreError) in
            try tally.catchUp(with: file, table.schema)
            return tally[id]
        }
        guard let known else { return nil }
        if let entry = try entry(known, in: file, list), entry.id.hasSameBytes(as: id) { return entry }
        let content = try BucketTable.content(of: file)
        return table.current(QueuedLine.key, id: .string(id), in: content).flatMap { HubMessage(line: $0) }
    }

    /// - Returns: nil where that line is not whole.
    private func entry(
        _ known: WaitingTally.Entry, in file: OpenFile, _ list: WaitingList
    ) throws(StoreError) -> HubMessage? {
        let line = try file.read(known.count - 1, from: known.start)
        return line.withUnsafeBufferPointer { bytes in
            (try? LineCodec.decode(bytes, table(of: list).schema)).flatMap { HubMessage(line: $0.value) }
        }
    }

    package func removeWaiting(_ ids: [String], from list: WaitingList) throws(StoreError) {
        guard !ids.isEmpty else { return }
        let lines = ids.flatMap(QueuedLine.removal)
        try table(of: list).write(QueuedLine.key, durably: list.isDurable) { (bucket) throws(StoreError) in
            try bucket.append(lines)
        }
    }

    package func changeWaiting(
        _ entry: HubMessage, to new: HubMessage?, in list: WaitingList
    ) throws(StoreError) -> Bool {
        try new?.document.checkDocument()
        let line = new.map { Self.line($0) } ?? QueuedLine.removal(entry.id)
        let table = table(of: list)
        return try table.write(QueuedLine.key, durably: list.isDurable) { (bucket) throws(StoreError) in
            guard try self.entry(entry.id, in: bucket.file, list) == entry else { return false }
            try bucket.append(line)
            return true
        }
    }

    package func acquireLease(of list: WaitingList) throws(StoreError) -> DeliveryLease? {
        switch list {
        case .webhookEvents: try acquireLease("webhook-delivery")
        case .sends: try acquireLease("scheduled-sends")
        }
    }

    func table(of list: WaitingList) -> BucketTable {
        switch list {
        case .webhookEvents: webhookTable
        case .sends: sendTable
        }
    }

    private func tally(of list: WaitingList) -> Lock<WaitingTally> {
        switch list {
        case .webhookEvents: webhookTally
        case .sends: sendTally
        }
    }

    private static func line(_ entry: HubMessage) -> [UInt8] {
        LineCodec.encode { QueuedLine(entry).write(to: &$0) }
    }
}

extension WaitingList {
    fileprivate var isDurable: Bool { self == .sends }
}
