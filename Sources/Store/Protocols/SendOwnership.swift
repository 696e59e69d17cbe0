// SPDX-License-Identifier: Apache-2.0
package import Text

/// The senders of sends, by the hub's names of these, so that no other user may ask for the outcome; and the messages that
/// they sent with them.
///
/// All of it are hints: what was written last may be lost with the power, unlike everything else that a store keeps. No call
/// costs a flush.
package protocol SendOwnership: Sendable {
    /// Remembers the ids for their sender; beyond so many of one owner the oldest are forgotten.
    /// - Parameter message: what was sent under these ids, whose own id is remembered with them; nil: that is not to be known.
    func rememberSent(
        _ ids: [String], message: SentMessage?, owner: String, now: Timestamp, expiresAt: Timestamp
    ) throws(StoreError)

    /// Whether the owner has sent it, and it is remembered still.
    func hasSent(_ id: String, owner: String, now: Timestamp) throws(StoreError) -> Bool

    /// The message of that id; nil when it never was, or is forgotten. Of one whose sender has sent too many since,
    /// `hasSent` tells that it is not remembered before this does.
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

    /// Remembers sends that belong to no message.
    package func rememberSent(
        _ ids: [String], owner: String, now: Timestamp, expiresAt: Timestamp
    ) throws(StoreError) {
        try rememberSent(ids, message: nil, owner: owner, now: now, expiresAt: expiresAt)
    }
}
