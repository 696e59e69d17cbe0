// SPDX-License-Identifier: Apache-2.0
package import NotificationHub
package import Store
package import Text

/// The messages that devices did not get, for operators.
extension MessageHistory {
    /// One of them.
    package struct Failure: Equatable, Sendable {
        /// When the message was sent.
        package let at: Timestamp
        /// As the counts of the device's platform name it.
        package let outcome: String
    }

    /// So many messages are looked through, newest first.
    private static let searched = 100

    /// Returns the last failure of each device by its registration id, of the last messages that name the user as a recipient. Only
    /// the built-in hub tells of devices, where they are few.
    /// - Parameters:
    ///   - user: the name.
    ///   - ask: the hub, for what it says now, by its own names of several messages.
    package func lastFailures(
        of user: String, ask: ([String]) -> [Result<NotificationDetails?, HubError>]
    ) throws(StoreError) -> [String: Failure] {
        var wish = Wish(limit: Self.searched)
        wish.user = user
        let messages = try store.sentMessages(
            owner: nil, behind: nil, limit: wish.limit, now: now(), where: wish.includes)
        let answers = Self.answers(messages.flatMap(\.notificationIDs), ask)
        var failures: [String: Failure] = [:]
        for message in messages {
            for case .success(let details?) in message.notificationIDs.compactMap({ answers[$0] }) {
                for device in details.devices where !device.isSuccess {
                    let failure = Failure(at: message.sentAt, outcome: device.name)
                    failures.merge([device.registrationID: failure]) { newest, _ in newest }
                }
            }
        }
        return failures
    }
}
