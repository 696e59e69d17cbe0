// SPDX-License-Identifier: Apache-2.0
package import Text

/// A message, and whom the hub sends it to.
package struct AddressedNotification: Sendable {
    package let notification: HubNotification
    /// Nil for every device of the platform.
    package let expression: TagExpression?

    package init(_ notification: HubNotification, to expression: TagExpression?) {
        self.notification = notification
        self.expression = expression
    }

    /// The same, from that owner, which the hub sends then; nil: at once.
    package func sent(by sender: String, at time: Timestamp? = nil) -> AddressedNotification {
        var notification = notification
        (notification.sender, notification.notBefore) = (sender, time?.seconds)
        return AddressedNotification(notification, to: expression)
    }
}

extension Hub {
    package func start(_ messages: [AddressedNotification]) -> PendingSends { PendingSends(sendInTurn(messages)) }

    /// As `start`, and waits for all answers together.
    /// - Returns: what became of each message, in their order.
    package func send(_ messages: [AddressedNotification]) -> [Result<SendReceipt, HubError>] {
        let pending = start(messages)
        pending.wait()
        return pending.results
    }

    /// One after the other. A message that fails does not stop the others, unless the hub cannot be reached: the next one
    /// would wait for the same deadline again.
    func sendInTurn(_ messages: [AddressedNotification]) -> [Result<SendReceipt, HubError>] {
        let hub = sharing(messages)
        var isOutOfReach = false
        return messages.map { message in
            guard !isOutOfReach else { return .failure(.unreachable("", mayHaveActed: false)) }
            do throws(HubError) {
                return .success(try hub.send(message.notification, to: message.expression))
            } catch {
                if case .unreachable = error { isOutOfReach = true }
                return .failure(error)
            }
        }
    }
}
