// SPDX-License-Identifier: Apache-2.0

#if canImport(UserNotifications) && !os(tvOS)
    public import DeviceAPI
    public import UserNotifications

    /// What an app's notification service extension inherits from: it puts the text of a secure push in the place of the generic
    /// text that has travelled, and shows the generic text when that cannot be fetched in time.
    ///
    /// The system asks it for pushes with `mutable-content` alone, which secure ones have where the backend's `secure.form` is
    /// `alert`. The fetched message counts as read. The text is not logged.
    open class SecureNotificationService: UNNotificationServiceExtension {
        /// For how long it waits for the backend. The system ends the extension after some 30 seconds.
        open var seconds: Double { 20 }

        private let delivery = Guarded<Delivery?>(nil)

        /// The client of the user who is logged in, with the credentials that the app has kept. To be overridden.
        /// - Returns: nil when no user is logged in, which leaves the generic text. So does what it throws.
        open func notificationClient() throws -> NotificationClient? { nil }

        /// Writes the message into what is shown: the sender, where there is one, and the text.
        open func show(_ message: SecureMessage, in content: UNMutableNotificationContent) {
            if let sender = message.sender { content.title = sender }
            content.body = message.payload
        }

        /// Shows the push, with its text as soon as that is there. It fetches each once.
        open override func didReceive(
            _ request: UNNotificationRequest,
            withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
        ) {
            guard let reference = SecureReference(userInfo: request.content.userInfo),
                let content = request.content.mutableCopy() as? UNMutableNotificationContent,
                let client = (try? notificationClient()) ?? nil
            else { return contentHandler(request.content) }
            let delivery = Delivery(self, content, contentHandler)
            self.delivery.withLock { $0 = delivery }
            let seconds = seconds
            Task {
                let message = try? await client.secureMessage(reference, within: seconds)
                delivery.end(with: message)
            }
        }

        fileprivate func forget(_ ended: Delivery) {
            delivery.withLock { if $0 === ended { $0 = nil } }
        }

        /// Shows the generic text at once: the system waits no longer.
        open override func serviceExtensionTimeWillExpire() {
            delivery.withLock { $0 }?.end(with: nil)
        }
    }

    /// What is to be shown, and how. It is shown once, by whichever thread comes first.
    private final class Delivery: @unchecked Sendable {
        private let service: SecureNotificationService
        private let content: UNMutableNotificationContent
        private let handler: (UNNotificationContent) -> Void
        private let isOpen = Guarded(true)

        init(
            _ service: SecureNotificationService, _ content: UNMutableNotificationContent,
            _ handler: @escaping (UNNotificationContent) -> Void
        ) {
            (self.service, self.content, self.handler) = (service, content, handler)
        }

        /// - Parameter message: nil leaves the generic text.
        func end(with message: SecureMessage?) {
            let isFirst = isOpen.withLock { isOpen in
                defer { isOpen = false }
                return isOpen
            }
            guard isFirst else { return }
            if let message { service.show(message, in: content) }
            handler(content)
            service.forget(self)
        }
    }
#endif
