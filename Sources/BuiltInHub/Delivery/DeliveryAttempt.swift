// SPDX-License-Identifier: Apache-2.0
import HTTP
import NotificationHub
internal import Push

/// One message for one target, ready to be handed over.
struct DeliveryAttempt: Sendable {
    let target: Target
    /// How often the target was tried before.
    let attempts: Int
    /// The way to the device; nil: its platform or its app has none.
    let channel: PushChannel?
    /// Whether it shows if the service accepts the channel's credential again.
    var isProbe: Bool
    /// Whether the service's other environment has refused the device a moment ago.
    let isElsewhere: Bool
    /// What is sent, or why nothing is.
    let request: Result<Request, PushRefusal>

    init(
        _ notification: HubNotification, to target: Target, attempts: Int, by channel: PushChannel?,
        isProbe: Bool = false, isElsewhere: Bool = false
    ) {
        self.target = target
        self.attempts = attempts
        self.channel = channel
        self.isProbe = isProbe
        self.isElsewhere = isElsewhere
        guard let channel else {
            request = .failure(PushRefusal(.skipped, reason: target.description.app))
            return
        }
        request = Result { () throws(PushRefusal) in
            let own = try Self.own(notification, of: target.description)
            return try channel.driver.request(for: own, to: target.description.handle)
        }
    }

    /// What the device gets: of a template notification its own.
    private static func own(
        _ notification: HubNotification, of device: RegistrationDescription
    ) throws(PushRefusal) -> HubNotification {
        guard notification.format == .template else { return notification }
        do throws(TemplateFault) {
            return try device.filled(notification)
        } catch {
            switch error {
            case .tooLarge:
                throw PushRefusal(.invalidNotificationSize, reason: "the template makes too much of the message")
            case .unreadable(let part): throw PushRefusal(.invalidNotificationFormat, reason: "cannot read \(part)")
            }
        }
    }

    /// As the queue names the target.
    var registrationID: String { target.name }

    /// The device at its service, as a hash: no handle is kept.
    var device: Int { Self.device(target, channel) }

    static func device(_ target: Target, _ channel: PushChannel?) -> Int {
        var hasher = Hasher()
        hasher.combine(channel?.name)
        hasher.combine(target.description.handle.channel)
        return hasher.finalize()
    }

    /// The push service: what is wrong with it is wrong for all of its devices.
    var service: String {
        switch request {
        case .success(let request): channel?.service(of: request) ?? ""
        case .failure: ""
        }
    }
}
