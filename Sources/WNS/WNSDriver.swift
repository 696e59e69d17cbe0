// SPDX-License-Identifier: Apache-2.0
package import HTTP
internal import HTTPTypes
package import NotificationHub
package import Push

/// Pushes to Windows devices by the Windows Push Notification Services.
///
/// The access token is not its affair: a `BearerSender` adds it.
package struct WNSDriver: PushDriver {
    /// Bytes of a notification.
    package static let maximumBytes = 5_000
    /// Every channel is at a host below it.
    static let domain = "notify.windows.com"

    private let privateHosts: [Authority]
    private let now: @Sendable () -> Int64

    /// - Parameters:
    ///   - privateHosts: hosts that channels may have besides Microsoft's, for tests.
    ///   - now: seconds since 1970.
    package init(privateHosts: [Authority] = [], now: @escaping @Sendable () -> Int64) {
        self.privateHosts = privateHosts
        self.now = now
    }

    package var platform: Platform { .wns }

    /// - Throws: `wrongChannel` for a channel that is not at a host of Microsoft's; `invalidNotificationSize` above
    ///   `maximumBytes`; `invalidNotificationFormat`, with the header that is wrong, for a body or header that Windows
    ///   would drop on the device, where the sender does not hear of it.
    package func request(
        for notification: HubNotification, to device: DeviceHandle
    ) throws(PushRefusal) -> Request {
        guard case .wns(let channel) = device.value, let url = ServiceURL(channel), isAllowed(url) else {
            throw PushRefusal(.wrongChannel)
        }
        guard notification.body.count <= Self.maximumBytes else { throw PushRefusal(.invalidNotificationSize) }
        let type = try WNSType(of: notification)
        var fields: HTTPFields = [.contentType: type == .raw ? "application/octet-stream" : "text/xml"]
        fields[.type] = type.header
        try DeliveryHeaders.add(notification.headers, of: type, to: &fields)
        return url.request(.post, fields: fields, body: notification.body)
    }

    package func result(of response: Response) -> PushResult {
        WNSAnswer(response, now: now()).result
    }

    private func isAllowed(_ url: ServiceURL) -> Bool {
        url.isBelow(Self.domain) || url.scheme == "https" && privateHosts.contains(url.authority)
    }
}
