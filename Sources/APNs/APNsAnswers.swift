// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import JSON
import Push
import Text

/// What APNs' answers mean. The reason decides; the status does where there is none or an unknown one.
struct APNsAnswers: Sendable {
    /// How long Apple wants to be left alone after an error of its own, in seconds.
    static let pauseAfterServerError = 900
    /// A reason with more characters, or with another than letters and digits, is not repeated: it goes into logs.
    private static let maximumReasonLength = 64

    let hasOtherEnvironment: Bool
    let hasOtherTopic: Bool
    /// Seconds since 1970.
    let now: @Sendable () -> Int64

    func result(of response: Response) -> PushResult {
        guard response.status.code != 200 else { return PushResult(.success) }
        let body = try? JSONValue(parsing: response.body)
        let reason = Self.reason(in: body)
        var result = reason.flatMap { known($0, body, response) } ?? unknown(body, response)
        result.reason = reason
        return result
    }

    /// Of a notification to a channel: no answer says anything of a device.
    func broadcastResult(of response: Response) -> PushResult {
        let reason = Self.reason(of: response)
        switch reason {
        case "BadChannelId", "ChannelNotRegistered", "MissingChannelId":
            return PushResult(.badChannel, reason: reason)
        case "MissingPushType", "BadRequestPayload":
            return PushResult(.invalidNotificationFormat, reason: reason)
        case "FeatureNotEnabled", "TopicMismatch":
            return PushResult(.invalidCredentials, hold(.topic), reason: reason)
        default:
            var result = result(of: response)
            switch result.action {
            case .removeRegistration, .doubtRegistration, .tryOtherEnvironment, .retryDevice, .retryPush:
                result.action = .settle
            case .settle, .retry, .renewCredential, .holdCredential: break
            }
            return result
        }
    }

    /// Apple's word for a refusal; nil where the answer has none that is fit for a log.
    static func reason(of response: Response) -> String? { reason(in: try? JSONValue(parsing: response.body)) }

    private static func reason(in body: JSONValue?) -> String? { body?["reason"]?.string.flatMap(printable) }

    private static func printable(_ reason: String) -> String? {
        let isWord = !reason.isEmpty && reason.utf8.allSatisfy(ASCII.isAlphanumeric)
        return isWord && reason.utf8.count <= maximumReasonLength ? reason : nil
    }

    /// - Returns: nil for a reason that is not in Apple's table.
    private func known(_ reason: String, _ body: JSONValue?, _ response: Response) -> PushResult? {
        switch reason {
        case "BadDeviceToken", "DeviceTokenNotForTopic", "Unregistered", "ExpiredToken":
            device(reason, body)
        case "BadCollapseId", "BadExpirationDate", "BadMessageId", "BadPriority", "InvalidPushType", "PayloadEmpty":
            PushResult(.invalidNotificationFormat)
        case "PayloadTooLarge": PushResult(.invalidNotificationSize)
        case "DuplicateHeaders", "MissingDeviceToken", "BadPath", "MethodNotAllowed": PushResult(.pnsInterfaceError)
        case "TooManyRequests": PushResult(.throttled, .retryDevice(afterSeconds: pause(response)))
        // Apple asks to wait with the push that failed, and takes others.
        case "InternalServerError":
            PushResult(
                .pnsServerError, .retryPush(afterSeconds: pause(response) ?? Self.pauseAfterServerError))
        case "ServiceUnavailable": PushResult(.pnsUnavailable, later(response))
        case "IdleTimeout", "Shutdown":
            PushResult(.pnsUnavailable, .retry(afterSeconds: pause(response)), closesConnection: true)
        default: credential(reason, response)
        }
    }

    private func device(_ reason: String, _ body: JSONValue?) -> PushResult {
        switch reason {
        case "BadDeviceToken":
            PushResult(.badChannel, hasOtherEnvironment ? .tryOtherEnvironment : .removeRegistration(goneSince: nil))
        case "DeviceTokenNotForTopic":
            PushResult(
                .wrongChannel, hasOtherTopic ? .settle : .doubtRegistration(reason: CredentialFault.otherApp.rawValue))
        default: gone(body)
        }
    }

    /// Apple's `timestamp` is in milliseconds.
    private func gone(_ body: JSONValue?) -> PushResult {
        let milliseconds = body?["timestamp"]?.integer.flatMap { $0 > 0 ? Int64($0) : nil }
        return PushResult(.expiredChannel, .removeRegistration(goneSince: milliseconds.map { $0 / 1000 }))
    }

    private func credential(_ reason: String, _ response: Response) -> PushResult? {
        switch reason {
        // The connection takes no other token after this answer.
        case "ExpiredProviderToken": PushResult(.invalidCredentials, expired(response), closesConnection: true)
        // The token is good, and another connection takes it.
        case "TooManyProviderTokenUpdates":
            PushResult(.throttled, .retry(afterSeconds: pause(response)), closesConnection: true)
        // A sender chooses the push type, and with it the topic's suffix: one message must not hold those of all others.
        case "BadTopic", "MissingTopic": PushResult(.pnsInterfaceError)
        case "TopicDisallowed": PushResult(.invalidCredentials)
        case "BadCertificate": PushResult(.invalidCredentials, hold(.certificate))
        case "BadCertificateEnvironment": PushResult(.invalidCredentials, hold(.environment))
        // The second is what APNs is seen to send, the first what Apple's documentation says.
        case "BadEnvironmentKeyIdInToken", "BadEnvironmentKeyInToken":
            PushResult(.invalidCredentials, hold(.environment))
        case "InvalidProviderToken", "MissingProviderToken": PushResult(.invalidCredentials, invalid(response))
        // The next push needs a new connection. It waits, so that a wrong key does not open one for each push.
        case "UnrelatedKeyIdInToken": PushResult(.invalidCredentials, hold(.unrelatedKey), closesConnection: true)
        case "Forbidden": PushResult(.invalidCredentials, hold(.forbidden))
        default: nil
        }
    }

    /// For an answer without a reason, or with one that Apple's table lacks.
    private func unknown(_ body: JSONValue?, _ response: Response) -> PushResult {
        switch response.status.code {
        // Every 403 is about the credential, and Apple has spelled one in another way than its table.
        case 403: PushResult(.invalidCredentials, hold(.forbidden))
        case 410: gone(body)
        case 413: PushResult(.invalidNotificationSize)
        case 429: PushResult(.throttled, .retry(afterSeconds: pause(response)))
        case 503: PushResult(.pnsUnavailable, later(response))
        // From a relay, which may have passed the message on: not again.
        case 500...599: PushResult(.pnsServerError)
        default: PushResult(.pnsInterfaceError)
        }
    }

    /// A new token would be dated by the same clock.
    private func expired(_ response: Response) -> PushResult.Action {
        guard let fault = ServiceClock.fault(response.fields, now: now()) else { return .renewCredential }
        return .holdCredential(reason: "\(CredentialFault.expired.rawValue): \(fault)")
    }

    private func invalid(_ response: Response) -> PushResult.Action {
        guard let fault = ServiceClock.fault(response.fields, now: now()) else { return hold(.key) }
        return .holdCredential(reason: "\(CredentialFault.key.rawValue); \(fault)")
    }

    private func hold(_ fault: CredentialFault) -> PushResult.Action { .holdCredential(reason: fault.rawValue) }

    private func later(_ response: Response) -> PushResult.Action {
        .retry(afterSeconds: pause(response) ?? Self.pauseAfterServerError)
    }

    /// Apple does not document `Retry-After`; it is obeyed where it comes.
    private func pause(_ response: Response) -> Int? { RetryAfter.seconds(response.fields, now: now()) }
}

/// Why APNs refuses a credential, for the operator.
enum CredentialFault: String, CaseIterable {
    case key = "APNs refuses the provider token: check key file, key id and team id"
    case environment = "APNs refuses the credential in this environment: check production or sandbox"
    case topic = "APNs refuses the topic: check that the key or certificate is for this topic"
    case certificate = "APNs refuses the client certificate: check whether it is revoked or has expired"
    case unrelatedKey = "APNs refuses the key on this connection: it is not related to the key used before"
    case forbidden = "APNs refuses the credential: check key or certificate, topic and environment"
    case otherApp = "the topic is not the bundle id that the app was built with"
    case expired = "APNs calls the provider token expired"
    case clock = "APNs calls a new provider token expired: check this host's clock"
}
