// SPDX-License-Identifier: Apache-2.0
package import Text

/// The senders of sends, by the hub's names of these, so that no other user may ask for the outcome; and the messages that
/// they sent with them.
///
/// All of it are hints: what was written last may be lost with the power, unlike everything else that a store keeps. No call
/// costs a flush.
package protocol SendOwnership: Sendable {
    /// Remembers the ids for their sender; beyond so many of one owner the oldest are forgotten.
    /// - Parameters:
    ///   - ids: by which the hub can be asked.
    ///   - message: what was sent under these ids, known as long as one of them is remembered. Where there are none, its own
    ///     id is remembered. nil: that is not to be known.
    func rememberSent(
        _ ids: [String], message: SentMessage?, owner: String, now: Timestamp, expiresAt: Timestamp
    ) throws(StoreError)

    /// Whether the owner has sent it, and it is remembered still.
    func hasSent(_ id: String, owner: String, now: Timestamp) throws(StoreError) -> Bool

    /// The message of that id; nil when it never was, or is forgotten. One whose sender has sent too many since may still be
    /// there: `sentMessage(_:owner:now:)` tells.
    func sentMessage(_ id: String, now: Timestamp) throws(StoreError) -> SentMessage?

    /// The messages that were sent last, newest first. It reads all of them: it is for an operator.
    /// - Parameters:
    ///   - owner: the sender; nil: all senders.
    ///   - place: the list begins behind it; nil: with the newest.
    ///   - isWanted: whether the list has a message.
    func sentMessages(
        owner: String?, behind place: SentMessage.Place?, limit: Int, now: Timestamp,
        where isWanted: (SentMessage) -> Bool
    ) throws(StoreError) -> [SentMessage]

    /// Notes that a user has opened a message. Doing it again changes nothing. Of one message so many are counted, and no more
    /// (`Quotas.openersPerMessage`), and of all messages together so many (`Quotas.openings`).
    /// - Returns: whether it was not known before.
    @discardableResult
    func noteOpening(_ opening: MessageOpening, now: Timestamp) throws(StoreError) -> Bool

    /// How many users have opened the message of that id.
    func openings(ofMessage id: String, now: Timestamp) throws(StoreError) -> Int
}

extension SendOwnership {
    /// The messages that were sent last, newest first.
    /// - Parameter owner: the sender; nil: all senders.
    package func sentMessages(owner: String?, limit: Int, now: Timestamp) throws(StoreError) -> [SentMessage] {
        try sentMessages(owner: owner, behind: nil, limit: limit, now: now) { _ in true }
    }

    /// The message of that id, for its sender; nil when it never was, is another's, or is not remembered any more.
    package func sentMessage(_ id: String, owner: String, now: Timestamp) throws(StoreError) -> SentMessage? {
        guard let message = try sentMessage(id, now: now), message.owner.hasSameBytes(as: owner) else { return nil }
        // Earlier versions remembered each message by its own id.
        for name in message.outcomes.reversed().compactMap(\.notificationID) + [id]
        where try hasSent(name, owner: owner, now: now) {
            return message
        }
        return nil
    }

    /// Remembers sends that belong to no message.
    package func rememberSent(
        _ ids: [String], owner: String, now: Timestamp, expiresAt: Timestamp
    ) throws(StoreError) {
        try rememberSent(ids, message: nil, owner: owner, now: now, expiresAt: expiresAt)
    }
}
