// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import NotificationHub

/// A hub in this process, whose calls are counted under the statuses that they would have over the network.
struct MeasuredHub: Hub {
    let inner: any Hub
    let clock: @Sendable () -> ContinuousClock.Instant
    let count: @Sendable (HubOperation, _ result: String, Duration) -> Void

    var knowsRegistrationTags: Bool { inner.knowsRegistrationTags }
    var isLocal: Bool { inner.isLocal }

    func tracking(_ id: String) -> any Hub {
        MeasuredHub(inner: inner.tracking(id), clock: clock, count: count)
    }

    func sharing(_ messages: [AddressedNotification]) -> any Hub {
        MeasuredHub(inner: inner.sharing(messages), clock: clock, count: count)
    }

    func createRegistrationID() throws(HubError) -> RegistrationID {
        try measure(.createRegistrationID, { _ in .created }) { () throws(HubError) in
            try inner.createRegistrationID()
        }
    }

    func registration(_ id: RegistrationID) throws(HubError) -> RegistrationDescription? {
        try measure(.readRegistration, { $0 == nil ? .notFound : .ok }) { () throws(HubError) in
            try inner.registration(id)
        }
    }

    func registrations(channel: String) throws(HubError) -> [RegistrationDescription] {
        try measure(.listRegistrations) { () throws(HubError) in try inner.registrations(channel: channel) }
    }

    func createOrUpdate(_ description: RegistrationDescription) throws(HubError) -> RegistrationDescription {
        try measure(.putRegistration) { () throws(HubError) in try inner.createOrUpdate(description) }
    }

    func ensure(_ description: RegistrationDescription) throws(HubError) -> Bool {
        try measure(.putRegistration) { () throws(HubError) in try inner.ensure(description) }
    }

    func delete(_ id: RegistrationID) throws(HubError) -> Bool {
        try measure(.deleteRegistration, { $0 ? .ok : .notFound }) { () throws(HubError) in try inner.delete(id) }
    }

    func send(_ notification: HubNotification, to expression: TagExpression?) throws(HubError) -> SendReceipt {
        // What is refused before it is sent is no call.
        try notification.check(for: expression)
        return try measure(.send, { _ in .created }) { () throws(HubError) in
            try inner.send(notification, to: expression)
        }
    }

    func details(_ notificationID: String) throws(HubError) -> NotificationDetails? {
        try measure(.readMessage, { $0 == nil ? .notFound : .ok }) { () throws(HubError) in
            try inner.details(notificationID)
        }
    }

    private func measure<Value>(
        _ operation: HubOperation, _ status: (Value) -> HTTPResponse.Status = { _ in .ok },
        _ call: () throws(HubError) -> Value
    ) throws(HubError) -> Value {
        let start = clock()
        do throws(HubError) {
            let value = try call()
            count(operation, String(status(value).code), start.duration(to: clock()))
            return value
        } catch {
            count(operation, error.result, start.duration(to: clock()))
            throw error
        }
    }
}

extension HubError {
    /// The status that a client of the hub would have had, or one word where it would have had none.
    fileprivate var result: String {
        switch self {
        case .registrationGone: "410"
        case .notFound: "404"
        case .refused(let status, _): String(status)
        case .unauthorized: "401"
        case .payloadTooLarge: "413"
        case .throttled, .limitReached: "429"
        case .unavailable, .storage: "503"
        case .unreachable, .malformedAnswer: "failed"
        }
    }
}
