// SPDX-License-Identifier: Apache-2.0
import NotificationHub

/// What a backend asks for, in the words of `Hub`.
extension BuiltInHub {
    package func createRegistrationID() -> RegistrationID { newRegistrationID() }

    package func registration(_ id: RegistrationID) throws(HubError) -> RegistrationDescription? {
        do throws(ServableHubError) {
            return try find(id)
        } catch {
            guard error == .noSuchRegistration else { throw HubError(error) }
            return nil
        }
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

    package func delete(_ id: RegistrationID) throws(HubError) -> Bool {
        do throws(ServableHubError) {
            try remove(id, at: .any)
            return true
        } catch {
            guard error == .noSuchRegistration else { throw HubError(error) }
            return false
        }
    }

    package func send(
        _ notification: HubNotification, to expression: TagExpression?
    ) throws(HubError) -> SendReceipt {
        try notification.check(for: expression)
        return try answering { () throws(ServableHubError) in try send(notification, to: .tags(expression)) }
    }

    package func details(_ notificationID: String) throws(HubError) -> NotificationDetails? {
        do throws(ServableHubError) {
            return try message(notificationID)
        } catch {
            guard error == .noSuchMessage else { throw HubError(error) }
            return nil
        }
    }

    private func answering<Value>(_ body: () throws(ServableHubError) -> Value) throws(HubError) -> Value {
        do throws(ServableHubError) {
            return try body()
        } catch {
            throw HubError(error)
        }
    }
}
