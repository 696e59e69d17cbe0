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
            try channel.driver.request(for: notification, to: target.description.handle)
        }
    }

    /// As the queue names the target.
    var registrationID: String { target.registrationID ?? QueuedMessage.unregistered }

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
