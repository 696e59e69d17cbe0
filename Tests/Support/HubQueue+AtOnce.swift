// SPDX-License-Identifier: Apache-2.0
import JSON
import Store
internal import Text

/// Of messages that may be delivered at once, for which no clock matters.
extension HubQueue {
    private var never: Timestamp { Timestamp(seconds: 0) }

    package func queuedHubMessage(_ id: String) throws(StoreError) -> HubMessage? {
        try queuedHubMessage(id, notBefore: nil)
    }

    package func queuedHubMessages(except ids: Set<String>, limit: Int) throws(StoreError) -> [HubMessage] {
        try dueHubMessages(except: ids, limit: limit, now: never).messages
    }

    package func removeQueuedHubMessages(_ ids: [String]) throws(StoreError) {
        try removeQueuedHubMessages(
            ids.map { HubMessage(id: $0, document: .null, createdAt: never, expiresAt: never) })
    }

    package func hubQueueRevision() -> QueueRevision { hubQueueRevision(now: never) }
    package func hubQueueBacklog() throws(StoreError) -> QueueBacklog { try hubQueueBacklog(now: never) }
}
