// SPDX-License-Identifier: Apache-2.0
internal import DeviceAPI

/// By which names the app asks for what a push has brought.
public struct PushedMessage: Equatable, Sendable {
    /// For `noteOpening(of:)`, when the user opens it; nil of a message that was sent as a string.
    public let messageID: String?
    /// For `markAsRead(_:)` and `deleteFromInbox(_:)`; nil where the backend does not keep it, or keeps it for several users.
    public let inboxID: Int32?
    /// For `secureMessage(_:)`; nil when the push is not a secure one.
    public let secure: SecureReference?

    /// From the dictionary of `didReceive` and `didReceiveRemoteNotification`.
    public init(userInfo: [AnyHashable: Any]) {
        secure = SecureReference(userInfo: userInfo)
        messageID = secure?.token ?? (userInfo["messageId"] as? String).flatMap(NotificationID.init)?.description
        inboxID = secure?.id ?? (userInfo["inboxId"] as? String).flatMap { Int32($0) }.flatMap { $0 > 0 ? $0 : nil }
    }
}
