// SPDX-License-Identifier: Apache-2.0
package import Text

/// A notification hub, as a backend uses it: `HubClient` asks one elsewhere over the network, the built-in hub
/// is one in this process.
///
/// Calls but `start` block until the answer or a deadline is there.
package protocol Hub: Sendable {
    /// The same hub, whose calls bear this id, so that a user's request can be followed into the hub.
    func tracking(_ id: String) -> any Hub

    /// Whether each registration is addressed by `Tag(registration:)` without bearing it. Where it is not, a backend sets the tag.
    var knowsRegistrationTags: Bool { get }

    /// Whether it is in this process, so that asking it takes no network.
    var isLocal: Bool { get }

    /// A new id. The hub stores nothing under it before the first `createOrUpdate`.
    func createRegistrationID() throws(HubError) -> RegistrationID

    /// The registration of that id; nil when there is none.
    func registration(_ id: RegistrationID) throws(HubError) -> RegistrationDescription?

    /// All registrations of one handle, of every platform.
    /// - Parameter channel: `DeviceHandle.channel`, or another spelling of it.
    func registrations(channel: String) throws(HubError) -> [RegistrationDescription]

    /// Stores the registration under its id, whether there was one or not.
    /// - Returns: the registration with what the hub gives: ETag and expiry.
    /// - Throws: `HubError.registrationGone`, when the id may not be used any more; `refused` with the code
    ///   `missingRegistrationID`, when there is no id.
    func createOrUpdate(_ description: RegistrationDescription) throws(HubError) -> RegistrationDescription

    /// Has the hub keep the registration under its id, as `createOrUpdate(_:)` does. A hub that has it in the same words, and
    /// wrote it less than `RegistrationDescription.renewalSeconds` ago, may leave it as it is.
    /// - Returns: whether it was written.
    /// - Throws: as `createOrUpdate(_:)`.
    func ensure(_ description: RegistrationDescription) throws(HubError) -> Bool

    /// Removes the registration, whatever its ETag.
    /// - Returns: false when there was none.
    func delete(_ id: RegistrationID) throws(HubError) -> Bool

    /// Hands a message to the hub, which then sends it to all devices that the expression addresses.
    /// - Parameter expression: nil for every device of the platform.
    /// - Throws: before anything is sent, what `HubNotification.check(for:)` throws.
    func send(_ notification: HubNotification, to expression: TagExpression?) throws(HubError) -> SendReceipt

    /// Hands several messages to the hub, together where the way to it allows that, and then does not wait for its answers.
    /// One that fails does not stop the others.
    func start(_ messages: [AddressedNotification]) -> PendingSends

    /// The same hub for these messages, which are sent one after the other: it may read only once what several of them need, such
    /// as whom their expression matches.
    func sharing(_ messages: [AddressedNotification]) -> any Hub

    /// What became of a message; nil where the hub does not know it, or not yet.
    func details(_ notificationID: String) throws(HubError) -> NotificationDetails?

    /// As `details(_:)`, of several messages, each in its place: together where the way to the hub allows that.
    func details(of notificationIDs: [String]) -> [Result<NotificationDetails?, HubError>]
}

extension Hub {
    package var knowsRegistrationTags: Bool { false }

    package var isLocal: Bool { false }

    package func ensure(_ description: RegistrationDescription) throws(HubError) -> Bool {
        _ = try createOrUpdate(description)
        return true
    }

    package func sharing(_ messages: [AddressedNotification]) -> any Hub { self }

    package func details(of notificationIDs: [String]) -> [Result<NotificationDetails?, HubError>] {
        notificationIDs.map { id in Result { () throws(HubError) in try details(id) } }
    }
}

extension RegistrationDescription {
    /// A registration that is not changed says when it was last made, to within a day, in seconds.
    package static let renewalSeconds: Int64 = 24 * 60 * 60

    /// Whether one that was written then, and is not changed, may be left as it is.
    package static func isRecent(_ written: Timestamp, now: Timestamp) -> Bool {
        // One of the future was written before the clock was set back.
        (written...written + renewalSeconds).contains(now)
    }
}
