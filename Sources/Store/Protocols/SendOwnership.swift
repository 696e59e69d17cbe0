// SPDX-License-Identifier: Apache-2.0
package import Text

/// The senders of sends, by the hub's names of these, so that no other user may ask for the outcome.
package protocol SendOwnership: Sendable {
    /// Remembers the ids for their sender; beyond so many of one owner the oldest are forgotten.
    ///
    /// A hint: what was remembered last may be lost with the power, unlike everything else that a store keeps.
    func rememberSent(
        _ ids: [String], owner: String, now: Timestamp, expiresAt: Timestamp
    ) throws(StoreError)

    /// Whether the owner has sent it, and it is remembered still.
    func hasSent(_ id: String, owner: String, now: Timestamp) throws(StoreError) -> Bool
}
