// SPDX-License-Identifier: Apache-2.0
package import HTTP
internal import HTTPTypes
package import NotificationHub
package import Push

/// Pushes to Android devices, and by Google to others, with the HTTP v1 protocol of Firebase Cloud Messaging.
///
/// The access token is not its affair: a `BearerSender` adds it.
package struct FCMDriver: PushDriver {
    /// Google's own.
    package static let defaultEndpoint = "https://fcm.googleapis.com"

    private let project: String
    private let url: ServiceURL
    private let hasOtherProject: Bool
    private let now: @Sendable () -> Int64

    /// - Parameters:
    ///   - project: id or number of the Firebase project.
    ///   - endpoint: scheme, host and port; anything behind them is left out.
    ///   - hasOtherProject: whether the hub has another project to which a device that is not of this one may belong.
    ///   - now: seconds since 1970.
    /// - Returns: nil for a project that has other characters than letters, digits, `-`, `.` and `:`, and for an endpoint
    ///   that is no URL.
    package init?(
        project: String, endpoint: String = defaultEndpoint, hasOtherProject: Bool = false,
        now: @escaping @Sendable () -> Int64
    ) {
        guard !project.isEmpty, project.utf8.allSatisfy(Self.isOfProject), let base = ServiceURL(endpoint),
            let url = ServiceURL("\(base.scheme)://\(base.authority)/v1/projects/\(project)/messages:send")
        else { return nil }
        self.project = project
        self.url = url
        self.hasOtherProject = hasOtherProject
        self.now = now
    }

    package var platform: Platform { .fcm }

    /// - Throws: `wrongChannel` for a device of another service; `invalidNotificationFormat` and `invalidNotificationSize`,
    ///   with the member that is wrong, for a body that Google would refuse for every device.
    package func request(
        for notification: HubNotification, to device: DeviceHandle
    ) throws(PushRefusal) -> Request {
        switch device.value {
        case .fcm(let token), .gcm(let token): try request(for: notification, to: .device(token))
        default: throw PushRefusal(.wrongChannel)
        }
    }

    /// A request by which Google checks credential, project and message, and delivers nothing.
    package func validationRequest() -> Request {
        let body = FCMMessage(members: [], validatesOnly: true).encoded(to: .topic("app-backend"))
        return url.request(.post, fields: Self.fields, body: body)
    }

    package func result(of response: Response) -> PushResult {
        FCMAnswer(response, from: project, now: now(), hasOtherProject: hasOtherProject).result
    }

    private static let fields: HTTPFields = [.contentType: "application/json"]

    private func request(for notification: HubNotification, to target: FCMTarget) throws(PushRefusal) -> Request {
        let message =
            notification.format == .native(.gcm)
            ? try LegacyMessage(notification.body).message : try FCMMessage(notification.body)
        try message.check()
        return url.request(.post, fields: Self.fields, body: message.encoded(to: target))
    }

    /// Domain-scoped ids have a domain and a colon in front.
    private static func isOfProject(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "-.:".utf8.contains(byte)
        }
    }
}
