// SPDX-License-Identifier: Apache-2.0
internal import HTTP

/// The fate of a message at one device, in the vocabulary of the hub's telemetry and feedback (Azure's `PnsError`).
package struct PushOutcome: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package var rawValue: String

    package init(rawValue: String) {
        self.rawValue = rawValue
    }

    package var description: String { rawValue }

    /// The service took it.
    package static let success = PushOutcome(rawValue: "Success")
    /// The service does not accept who we say we are: the operator's affair, never the device's.
    package static let invalidCredentials = PushOutcome(rawValue: "InvalidCredentials")
    /// No connection to the service, or no answer from it in time.
    package static let pnsUnreachable = PushOutcome(rawValue: "PnsUnreachable")
    /// The service calls our request malformed, or its answer is not a known one.
    package static let pnsInterfaceError = PushOutcome(rawValue: "PnsInterfaceError")
    /// The service failed.
    package static let pnsServerError = PushOutcome(rawValue: "PnsServerError")
    /// The service is not available just now.
    package static let pnsUnavailable = PushOutcome(rawValue: "PnsUnavailable")
    /// The service asks to slow down.
    package static let throttled = PushOutcome(rawValue: "Throttled")
    /// The service knows no such device.
    package static let badChannel = PushOutcome(rawValue: "BadChannel")
    /// The service knew the device, and it is gone.
    package static let expiredChannel = PushOutcome(rawValue: "ExpiredChannel")
    /// The device's address was made for another sender than we are.
    package static let wrongToken = PushOutcome(rawValue: "WrongToken")
    /// The service asks to slow down for this device.
    package static let channelThrottled = PushOutcome(rawValue: "ChannelThrottled")
    /// The service took it and did not pass it on: the device is away, or its user does not want it.
    package static let dropped = PushOutcome(rawValue: "Dropped")
    /// The device's address does not belong to a service that may be sent to.
    package static let wrongChannel = PushOutcome(rawValue: "WrongChannel")
    /// The notification is not one that the service takes.
    package static let invalidNotificationFormat = PushOutcome(rawValue: "InvalidNotificationFormat")
    /// The notification is larger than the service takes.
    package static let invalidNotificationSize = PushOutcome(rawValue: "InvalidNotificationSize")
    /// The service did not take it for as long as the hub keeps trying.
    package static let abandoned = PushOutcome(rawValue: "AbandonedNotificationMessages")
    /// Chosen, and nothing was sent: this hub has no connection to the target's push service.
    package static let skipped = PushOutcome(rawValue: "Skipped")
    /// Whether it was taken cannot be known any more.
    package static let unknownError = PushOutcome(rawValue: "UnknownError")
}

extension PushOutcome {
    /// What it comes to that a service gave no answer.
    package init(noAnswer error: any Error) {
        switch error {
        case CredentialError.refused: self = .invalidCredentials
        case let error as any TransportFailure: self = error.isPermanent ? .wrongChannel : .pnsUnreachable
        default: self = .unknownError
        }
    }
}
