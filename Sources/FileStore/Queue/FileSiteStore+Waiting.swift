// SPDX-License-Identifier: Apache-2.0
internal import JSON
import Store

extension FileSiteStore {
    package func putWaiting(_ entries: [HubMessage], in list: WaitingList) throws(StoreError) {
        guard !entries.isEmpty else { return }
        for entry in entries { try entry.document.checkDocument() }
        let lines = entries.flatMap { Self.line($0) }
        let (table, quota) = (table(of: list), context.options.quotas.bytes(of: list))
        try table.write(QueuedLine.key, durably: list.isDurable) { (bucket) throws(StoreError) in
            // What has gone may lie in the file for a while: what is live is counted before anything is refused.
            if bucket.size + lines.count > 2 * quota {
                let records = CurrentRecords(try bucket.content(), table, key: QueuedLine.key)
                let live = records.all.reduce(0) { $0 + $1.newest.count }
                let known = Set(records.all.map(\.name.idText))
                guard live + lines.count <= quota || entries.allSatisfy({ known.contains($0.id) }) else {
                    throw .quotaExceeded
                }
            }
            try bucket.append(lines)
        }
    }

    package func waiting(in list: WaitingList, except ids: Set<String>) throws(StoreError) -> [HubMessage] {
        let table = table(of: list)
        let records = CurrentRecords(try table.read(QueuedLine.key), table, key: QueuedLine.key)
        return records.all.filter { !ids.contains($0.name.idText) }
            .compactMap { records.line(of: $0).flatMap { HubMessage(line: $0.value) } }
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
            let records = CurrentRecords(try bucket.content(), table, key: QueuedLine.key)
            let found = records.record(id: .string(entry.id), key: QueuedLine.key).flatMap { records.line(of: $0) }
                .flatMap { HubMessage(line: $0.value) }
            guard found == entry else { return false }
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

    private static func line(_ entry: HubMessage) -> [UInt8] {
        LineCodec.encode { QueuedLine(entry).write(to: &$0) }
    }
}

extension WaitingList {
    fileprivate var isDurable: Bool { self == .sends }
}
