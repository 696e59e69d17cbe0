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

    private let endpoint: ServiceURL?
    private let now: @Sendable () -> Int64

    /// - Parameters:
    ///   - endpoint: for relays and tests: is asked in the place of the host of the channels. Of its URL only scheme, host and
    ///     port are of use.
    ///   - now: seconds since 1970.
    package init(endpoint: ServiceURL? = nil, now: @escaping @Sendable () -> Int64) {
        self.endpoint = endpoint
        self.now = now
    }

    package var platform: Platform { .wns }

    /// Whether the channel is at a host of Microsoft's, as every one of WNS is.
    package static func sends(to channel: String) -> Bool { ServiceURL(channel)?.isBelow(domain) ?? false }

    /// - Throws: `wrongChannel` for a channel that is not at a host of Microsoft's; `invalidNotificationSize` above
    ///   `maximumBytes`; `invalidNotificationFormat`, with the header that is wrong, for a body or header that Windows
    ///   would drop on the device, where the sender does not hear of it.
    package func request(
        for notification: HubNotification, to device: DeviceHandle
    ) throws(PushRefusal) -> Request {
        guard case .wns(let channel) = device.value, let url = ServiceURL(channel), url.isBelow(Self.domain) else {
            throw PushRefusal(.wrongChannel)
        }
        guard notification.body.count <= Self.maximumBytes else { throw PushRefusal(.invalidNotificationSize) }
        let type = try WNSType(of: notification)
        let body = type == .raw ? notification.body : XMLDeclaration.asUTF8(notification.body)
        var fields: HTTPFields = [.contentType: type == .raw ? "application/octet-stream" : "text/xml"]
        fields[.type] = type.header
        try DeliveryHeaders.add(notification.headers, of: type, to: &fields)
        var request = url.request(.post, fields: fields, body: body)
        if let endpoint { (request.scheme, request.authority) = (endpoint.scheme, endpoint.authority.description) }
        return request
    }

    package func result(of response: Response) -> PushResult {
        WNSAnswer(response, now: now()).result
    }
}
