// SPDX-License-Identifier: Apache-2.0

/// How much a store keeps, whatever it keeps it in. The defaults are the product's; tests make them small.
package struct StoreCaps: Sendable {
    /// Notifications that are neither expired nor removed, per owner.
    package var notificationsPerOwner = 1_000
    /// Bytes of their payloads, per owner, each counted with `FileStore.notificationOverhead`. In files all of an owner's
    /// lie in one, which is read at once to list them.
    package var notificationBytesPerOwner = 1 << 20
    /// Devices per owner. Calls in flight at the same moment may exceed it by their number.
    package var devicesPerOwner = 100
    /// Bytes of messages that the local hub has not delivered yet.
    package var queueBytes = 16 << 20
    /// Sessions per owner; the oldest end for new ones. Log-ins at the same moment may exceed it by their number.
    package var sessionsPerOwner = 50
    /// Sends per owner that are remembered; the oldest are forgotten for new ones.
    package var sentPerOwner = 1_000
    /// Idempotency keys per owner; of those that were answered the oldest are forgotten for new ones.
    package var idempotencyKeysPerOwner = 1_000

    package init() {}
}
