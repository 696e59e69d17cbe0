// SPDX-License-Identifier: Apache-2.0
import NotificationHub
import Store

/// What was found of a user, and removed, and what could not be.
package struct UserRemains: Sendable {
    /// Registrations that were ended, or lost a tag.
    package var devices = 0
    package var sessions = 0
    /// App tokens.
    package var tokens = 0
    package var secrets = 0
    /// Idempotency keys.
    package var keys = 0
    /// Sends whose outcome the user could have asked for.
    package var sends = 0
    /// Registrations that are still there.
    package var unreachable = 0
    /// Why the work has to be done again; nil: it is done.
    package private(set) var failure: String?
    /// Whether asking the hub once more makes no sense at this moment.
    private(set) var isHubAway = false

    mutating func record(_ error: any Error) {
        switch error {
        case let error as HubError:
            failure = failure ?? "hub: \(error)"
            switch error {
            case .unreachable, .unavailable, .storage, .unauthorized, .throttled, .limitReached: isHubAway = true
            case .registrationGone, .notFound, .refused, .payloadTooLarge, .malformedAnswer: break
            }
        case let error as StoreError: failure = failure ?? "store: \(error)"
        default: failure = failure ?? "\(type(of: error))"
        }
    }

    static func += (one: inout UserRemains, other: UserRemains) {
        one.devices += other.devices
        one.sessions += other.sessions
        one.tokens += other.tokens
        one.secrets += other.secrets
        one.keys += other.keys
        one.sends += other.sends
        one.unreachable += other.unreachable
        one.failure = one.failure ?? other.failure
        one.isHubAway = one.isHubAway || other.isHubAway
    }
}
