// SPDX-License-Identifier: Apache-2.0
internal import JSON
import Store

extension FileSiteStore {
    package func putWebhookEvents(_ events: [HubMessage]) throws(StoreError) {
        guard !events.isEmpty else { return }
        for event in events { try event.document.checkDocument() }
        let lines = events.flatMap { event in LineCodec.encode { QueuedLine(event).write(to: &$0) } }
        try webhookTable.write(QueuedLine.key, durably: false) { (bucket) throws(StoreError) in
            // What has gone may lie in the file for a while: what is live is counted before anything is refused.
            let quota = context.options.quotas.webhookBytes
            if bucket.size + lines.count > 2 * quota {
                let records = CurrentRecords(try bucket.content(), webhookTable, key: QueuedLine.key)
                let live = records.all.reduce(0) { $0 + $1.newest.count }
                let known = Set(records.all.map(\.name.idText))
                guard live + lines.count <= quota || events.allSatisfy({ known.contains($0.id) }) else {
                    throw .quotaExceeded
                }
            }
            try bucket.append(lines)
        }
    }

    package func webhookEvents(except ids: Set<String>) throws(StoreError) -> [HubMessage] {
        let records = CurrentRecords(try webhookTable.read(QueuedLine.key), webhookTable, key: QueuedLine.key)
        return records.all.filter { !ids.contains($0.name.idText) }
            .compactMap { records.line(of: $0).flatMap { HubMessage(line: $0.value) } }
    }

    package func removeWebhookEvents(_ ids: [String]) throws(StoreError) {
        guard !ids.isEmpty else { return }
        let lines = ids.flatMap(QueuedLine.removal)
        try webhookTable.write(QueuedLine.key, durably: false) { (bucket) throws(StoreError) in
            try bucket.append(lines)
        }
    }

    package func acquireWebhookLease() throws(StoreError) -> DeliveryLease? { try acquireLease("webhook-delivery") }
}
