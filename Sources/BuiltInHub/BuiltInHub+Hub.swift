// SPDX-License-Identifier: Apache-2.0
import NotificationHub

/// What a backend asks for, in the words of `Hub`.
extension BuiltInHub {
    package var knowsRegistrationTags: Bool { true }

    package var isLocal: Bool { true }

    package func createRegistrationID() -> RegistrationID { newRegistrationID() }

    package func registration(_ id: RegistrationID) throws(HubError) -> RegistrationDescription? {
        try answering(nilFor: .noSuchRegistration) { () throws(ServableHubError) in try find(id) }
    }

    package func registrations(channel: String) throws(HubError) -> [RegistrationDescription] {
        try answering { () throws(ServableHubError) in
            try list(.device(ChannelQuery(anyForm: channel)), after: nil, limit: .max).registrations
        }
    }

    package func createOrUpdate(_ description: RegistrationDescription) throws(HubError) -> RegistrationDescription {
        guard let id = description.id else { throw .refused(status: 400, code: "missingRegistrationID") }
        return try answering { () throws(ServableHubError) in try put(description, under: id, replacing: nil) }
    }

    package func ensure(_ description: RegistrationDescription) throws(HubError) -> Bool {
        guard let id = description.id else { throw .refused(status: 400, code: "missingRegistrationID") }
        return try answering { () throws(ServableHubError) in
            guard try !hasRecent(description, under: id) else { return false }
            _ = try put(description, under: id, replacing: nil)
            return true
        }
    }

    package func delete(_ id: RegistrationID) throws(HubError) -> Bool {
        try answering(nilFor: .noSuchRegistration) { () throws(ServableHubError) in try remove(id, at: .any) } != nil
    }

    package func send(
        _ notification: HubNotification, to expression: TagExpression?
    ) throws(HubError) -> SendReceipt {
        try notification.check(for: expression)
        return try answering { () throws(ServableHubError) in try send(notification, to: .tags(expression)) }
    }

    package func sharing(_ messages: [AddressedNotification]) -> any Hub {
        var hub = self
        if messages.count > 1 { hub.selection = selection.sharing() }
        return hub
    }

    package func details(_ notificationID: String) throws(HubError) -> NotificationDetails? {
        try answering(nilFor: .noSuchMessage) { () throws(ServableHubError) in
            try message(notificationID, asManager: true)
        }
    }

    private func answering<Value>(_ body: () throws(ServableHubError) -> Value) throws(HubError) -> Value {
        do throws(ServableHubError) {
            return try body()
        } catch {
            throw HubError(error)
        }
    }

    /// - Parameter absence: says that there is no such thing, which is no error here.
    private func answering<Value>(
        nilFor absence: ServableHubError, _ body: () throws(ServableHubError) -> Value
    ) throws(HubError) -> Value? {
        do throws(ServableHubError) {
            return try body()
        } catch {
            guard error == absence else { throw HubError(error) }
            return nil
        }
    }
}
