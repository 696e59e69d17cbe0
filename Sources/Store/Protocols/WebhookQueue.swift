// SPDX-License-Identifier: Apache-2.0

/// Events that wait until those have them who want to be told, each in the form of a message that waits.
///
/// No call costs a flush: what was written last survives a kill and may be lost with the power. Many processes may put events
/// in. One at a time delivers and removes them: the holder of the lease.
package protocol WebhookQueue: Sendable {
    /// Keeps the events, each in the place of one of its id.
    /// - Throws: `quotaExceeded`, when as much waits as may and an event is new.
    func putWebhookEvents(_ events: [HubMessage]) throws(StoreError)

    /// The events that wait, without those of the ids; the oldest comes first.
    func webhookEvents(except ids: Set<String>) throws(StoreError) -> [HubMessage]

    /// Ends the wait of the events of these ids.
    func removeWebhookEvents(_ ids: [String]) throws(StoreError)

    /// The right to deliver events; as `HubQueue.acquireDeliveryLease()`.
    func acquireWebhookLease() throws(StoreError) -> DeliveryLease?
}
