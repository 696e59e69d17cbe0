// SPDX-License-Identifier: Apache-2.0
internal import HTTP
internal import JSON
internal import Push

/// What FCM's answer means. One status stands for several cases, so the parts of the error object decide: FCM's own code,
/// then the name of Google's RPC status, then the HTTP status.
struct FCMAnswer {
    /// Seconds until a project or a device that has used up its quota is tried again, where Google does not say; quotas are
    /// filled up each minute.
    static let quotaPause = 60
    /// As `quotaPause`, after a failure of Google's.
    static let failurePause = 10

    private let project: String
    private let hasOtherProject: Bool
    private let status: Int
    private let error: FCMError?
    private let retryAfter: Int?

    /// - Parameters:
    ///   - project: that the credential is of.
    ///   - now: seconds since 1970.
    ///   - hasOtherProject: whether a device that is not of this project may be of another.
    init(_ response: Response, from project: String, now: Int64, hasOtherProject: Bool = false) {
        self.project = project
        self.hasOtherProject = hasOtherProject
        status = response.status.code
        error = FCMError(response.body)
        retryAfter = RetryAfter.seconds(response.fields, now: now) ?? error?.retryDelay
    }

    var result: PushResult {
        if status == 200 { return PushResult(.success) }
        guard let error else { return resultByStatus }
        let codes = [error.code, error.status].compactMap(\.self)
        var result = codes.lazy.compactMap { meaning(of: error, $0) }.first ?? resultByStatus
        result.reason = codes.first
        return result
    }

    /// - Returns: nil for a code that is not known.
    private func meaning(of error: FCMError, _ code: String) -> PushResult? {
        switch code {
        case "UNREGISTERED": PushResult(.expiredChannel, .removeRegistration(goneSince: nil))
        case "SENDER_ID_MISMATCH":
            PushResult(.wrongToken, hasOtherProject ? .settle : .doubtRegistration(reason: otherProject))
        case "INVALID_ARGUMENT": invalidArgument(error)
        case "THIRD_PARTY_AUTH_ERROR", "APNS_AUTH_ERROR":
            // What the project shows to Apple or to a browser's service: devices of Android are not concerned.
            PushResult(.invalidCredentials)
        case "QUOTA_EXCEEDED", "RESOURCE_EXHAUSTED": quotaExceeded(error)
        case "UNAUTHENTICATED": PushResult(.invalidCredentials, .renewCredential)
        case "PERMISSION_DENIED": refused(.invalidCredentials, "FCM does not let the credential send:")
        case "NOT_FOUND": refused(.pnsInterfaceError, "FCM does not know the project:")
        case "UNAVAILABLE": PushResult(.pnsUnavailable, .retry(afterSeconds: retryAfter ?? Self.failurePause))
        case "INTERNAL": PushResult(.pnsServerError, .retry(afterSeconds: retryAfter ?? Self.failurePause))
        default: nil
        }
    }

    private var otherProject: String {
        "the service account's project \(project) is not the one that the app was built with"
    }

    /// Of an answer without an error that is known, such as that of a gateway in front of FCM.
    private var resultByStatus: PushResult {
        switch status {
        case 400: PushResult(.pnsInterfaceError)
        case 401: PushResult(.invalidCredentials, .renewCredential)
        case 403: refused(.invalidCredentials, "FCM does not let the credential send:")
        case 404: refused(.pnsInterfaceError, "FCM does not know the project:")
        case 413: PushResult(.invalidNotificationSize)
        case 429: PushResult(.throttled, .retry(afterSeconds: retryAfter ?? Self.quotaPause))
        // Google's own failures have an error object; of others it is not known whether the message was taken.
        case 500 where error != nil: PushResult(.pnsServerError, .retry(afterSeconds: retryAfter ?? Self.failurePause))
        case 503 where error != nil: PushResult(.pnsUnavailable, .retry(afterSeconds: retryAfter ?? Self.failurePause))
        case 500...599: PushResult(.pnsServerError)
        default: PushResult(.pnsInterfaceError)
        }
    }

    /// The device or the message: FCM says so in words only. Messages are checked before they are sent, and that a token is
    /// wrong is said of the token.
    private func invalidArgument(_ error: FCMError) -> PushResult {
        if error.isAboutDevice { return PushResult(.badChannel, .removeRegistration(goneSince: nil)) }
        return PushResult(error.message.contains("too big") ? .invalidNotificationSize : .invalidNotificationFormat)
    }

    private func quotaExceeded(_ error: FCMError) -> PushResult {
        let seconds = retryAfter ?? Self.quotaPause
        guard error.isDeviceQuota else { return PushResult(.throttled, .retry(afterSeconds: seconds)) }
        return PushResult(.channelThrottled, .retryDevice(afterSeconds: max(seconds, Self.quotaPause)))
    }

    private func refused(_ outcome: PushOutcome, _ sentence: String) -> PushResult {
        let words = error.flatMap { ServiceSentence($0.message)?.text } ?? "HTTP \(status)"
        return PushResult(outcome, .holdCredential(reason: "\(sentence) \(words)"))
    }
}
