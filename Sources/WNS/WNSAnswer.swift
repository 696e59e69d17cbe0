// SPDX-License-Identifier: Apache-2.0
internal import HTTP
internal import HTTPTypes
internal import Push

/// What WNS's answer means: the status, and two headers that tell apart what has the same status.
struct WNSAnswer {
    private let status: Int
    private let wnsStatus: String
    /// Microsoft's sentence, for the operator.
    private let description: String?
    private let retryAfter: Int?

    /// - Parameter now: seconds since 1970.
    init(_ response: Response, now: Int64) {
        status = response.status.code
        wnsStatus = response.fields[.status]?.lowercased() ?? "received"
        // Over HTTP/1.1 there may be a phrase beside the status.
        let phrase = response.status.reasonPhrase
        description = ServiceSentence(response.fields[.errorDescription] ?? phrase)?.text
        retryAfter = RetryAfter.seconds(response.fields, now: now)
    }

    var result: PushResult {
        var result = resultByStatus
        if status != 200 { result.reason = description }
        return result
    }

    private var resultByStatus: PushResult {
        switch status {
        case 200: taken
        case 401: PushResult(.invalidCredentials, .renewCredential)
        // Of another app, or of one that Microsoft has not mapped to the credential: both are said of this channel alone,
        // and a user can register any channel.
        case 403: PushResult(.wrongChannel)
        case 404: PushResult(.badChannel, .removeRegistration(goneSince: nil))
        case 406 where isOfChannel, 429 where isOfChannel: throttledChannel
        // 406 is WNS's 429.
        case 406, 429: PushResult(.throttled, .retry(afterSeconds: retryAfter))
        case 410: gone
        case 413: PushResult(.invalidNotificationSize)
        case 500: PushResult(.pnsServerError, .retry(afterSeconds: retryAfter))
        case 503: PushResult(.pnsUnavailable, .retry(afterSeconds: retryAfter))
        // From a gateway in front of the service, which may have taken the notification: not again.
        case 502, 504: PushResult(.pnsServerError)
        default: PushResult(.pnsInterfaceError)
        }
    }

    private var taken: PushResult {
        switch wnsStatus {
        case "dropped": PushResult(.dropped)
        case _ where isOfChannel: throttledChannel
        default: PushResult(.success)
        }
    }

    /// Whether the one device has had too much, and not the service.
    private var isOfChannel: Bool { wnsStatus == "channelthrottled" }
    private var throttledChannel: PushResult { PushResult(.channelThrottled, .retryDevice(afterSeconds: retryAfter)) }

    /// WNS says 410 of a channel that has expired, and of a sender whom it has blocked: then no device is gone.
    private var gone: PushResult {
        guard let description, description.lowercased().contains("domain") else {
            return PushResult(.expiredChannel, .removeRegistration(goneSince: nil))
        }
        return PushResult(.invalidCredentials, .holdCredential(reason: "WNS has blocked this sender: \(description)"))
    }
}
