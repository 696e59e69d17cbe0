// SPDX-License-Identifier: Apache-2.0
package import HTTP
internal import HTTPTypes
package import NotificationHub
package import Push

/// Pushes to browsers of any vendor: RFC 8030 with the payload encrypted (RFC 8291) and the sender known (RFC 8292). It
/// needs no account at any vendor, only a key pair of one's own.
///
/// `docs/reference/web-push.md` says where the vendors differ from the RFCs and from each other; here it is said where
/// it matters.
package struct WebPushDriver: PushDriver {
    /// Seconds that a message waits for a browser that is away: a day.
    package static let defaultTimeToLive = 86_400

    private let authorization: VAPIDAuthorization
    private let formerAuthorizations: [VAPIDAuthorization]
    private let hosts: PushHosts
    private let timeToLive: Int
    private let now: @Sendable () -> Int64

    /// - Parameters:
    ///   - key: the one that browsers subscribe with.
    ///   - formerKeys: those that they subscribed with before, the latest first; `reachingFormerKeys` uses them.
    ///   - timeToLive: seconds that a message waits for a browser that is away, where the notification does not say.
    ///   - now: seconds since 1970.
    package init(
        key: VAPIDKey, formerKeys: [VAPIDKey] = [], subject: VAPIDSubject, hosts: PushHosts,
        timeToLive: Int = defaultTimeToLive,
        now: @escaping @Sendable () -> Int64
    ) {
        authorization = VAPIDAuthorization(key: key, subject: subject, now: now)
        formerAuthorizations = formerKeys.map { VAPIDAuthorization(key: $0, subject: subject, now: now) }
        self.hosts = hosts
        self.timeToLive = max(0, timeToLive)
        self.now = now
    }

    package var platform: Platform { .browser }

    /// What a page subscribes with.
    package var publicKey: String { authorization.publicKey }

    /// When the first of the authorizations ends that are kept for push services, in seconds since 1970; nil when there is
    /// none. The next push to that service makes a new one in time.
    package var authorizationExpiry: Int64? {
        ([authorization] + formerAuthorizations).compactMap(\.earliestExpiry).min()
    }

    /// The same sender, which reaches subscriptions that were made with a former key as well.
    /// - Parameter onFormerKey: a push service took a message by a former key; be quick.
    package func reachingFormerKeys(
        _ sender: any PushSender, onFormerKey: @escaping @Sendable () -> Void = {}
    ) -> any PushSender {
        guard !formerAuthorizations.isEmpty else { return sender }
        return FormerKeySender(
            sender, authorizations: [authorization] + formerAuthorizations, onFormerKey: onFormerKey)
    }

    /// Encrypts with a new key each time: the request for the same notification is never the same twice.
    /// - Throws: `wrongChannel`, when the endpoint is of no host that may be sent to; `invalidNotificationSize` above
    ///   `MessageEncryption.maximumPlaintext`; `badChannel` for keys that no message can be encrypted with.
    package func request(
        for notification: HubNotification, to device: DeviceHandle
    ) throws(PushRefusal) -> Request {
        guard case .browser(let subscription) = device.value, let endpoint = ServiceURL(subscription.endpoint),
            endpoint.scheme == "https"
        else { throw PushRefusal(.wrongChannel) }
        guard hosts.allow(endpoint.authority) else {
            throw PushRefusal(
                .wrongChannel, reason: "a browser's endpoint is at a host that webPush.hosts does not name",
                isForGood: SpecialUseName.isInvalid(endpoint.authority.host))
        }
        let body = try encrypt(notification.body, for: subscription)
        return endpoint.request(.post, fields: try fields(for: notification, at: endpoint), body: body)
    }

    /// 401 and 403 do not remove: a wrong key of ours, or a clock, would empty the table of everybody's devices.
    package func result(of response: Response) -> PushResult {
        switch response.status.code {
        case 200...202: PushResult(.success)
        case 401, 403: PushResult(.invalidCredentials)
        case 404: PushResult(.badChannel, .removeRegistration(goneSince: nil))
        case 410: PushResult(.expiredChannel, .removeRegistration(goneSince: nil))
        case 413: PushResult(.invalidNotificationSize)
        // 406 is Microsoft's 429. Both are about the one subscription.
        case 406, 429: PushResult(.throttled, .retryDevice(afterSeconds: retryAfter(response)))
        // 507 is ntfy's word for a topic that has no subscriber at the moment (UnifiedPush).
        case 503, 507: PushResult(.pnsUnavailable, .retry(afterSeconds: retryAfter(response)))
        case 500: PushResult(.pnsServerError, .retry(afterSeconds: retryAfter(response)))
        // From a gateway in front of the service, which may have taken the message: not again.
        case 502, 504: PushResult(.pnsServerError)
        // A redirection, too: a push resource does not move, and a redirection could lead to a host that is not on the list.
        default: PushResult(.pnsInterfaceError)
        }
    }

    /// With the service's own word for a refusal.
    package func result(of response: Response, to request: Request) -> PushResult {
        var result = result(of: response)
        if result.outcome != .success { result.reason = RefusalWords(response, to: request).text }
        return result
    }

    private func retryAfter(_ response: Response) -> Int? { RetryAfter.seconds(response.fields, now: now()) }

    private func encrypt(
        _ text: [UInt8], for subscription: BrowserSubscription
    ) throws(PushRefusal) -> [UInt8] {
        do throws(MessageEncryption.Failure) {
            return try MessageEncryption().encrypt(text, for: subscription)
        } catch {
            switch error {
            case .tooLarge: throw PushRefusal(.invalidNotificationSize)
            case .unusableKeys: throw PushRefusal(.badChannel)
            }
        }
    }

    private func fields(
        for notification: HubNotification, at endpoint: ServiceURL
    ) throws(PushRefusal) -> HTTPFields {
        let options = DeliveryOptions(notification.headers, defaultTimeToLive: timeToLive)
        var fields: HTTPFields = [.contentEncoding: "aes128gcm", .contentType: "application/octet-stream"]
        options.add(to: &fields)
        // Microsoft answers 400, "Ttl value conflicts with X-WNS-Cache-Policy", to one without the other.
        if endpoint.isBelow("notify.windows.com") {
            fields[.cachePolicy] = options.timeToLive > 0 ? "cache" : "no-cache"
        }
        do {
            fields[.authorization] = try authorization.field(for: "https://\(endpoint.authority)").reveal()
        } catch {
            throw PushRefusal(.invalidCredentials)
        }
        return fields
    }
}
