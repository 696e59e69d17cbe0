// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
package import NotificationHub

/// The hub and the platforms that it has credentials for; handed to the two controllers. (In the tutorial it is a
/// global, `Notifications.Instance`.)
package struct Notifications: Sendable {
    package let hub: any Hub
    /// Platforms that are sent to, in the order in which they are tried.
    package let platforms: [Platform]

    package let secureForm: SecureForm

    package init(hub: any Hub, platforms: [Platform], secureForm: SecureForm = .silent) {
        self.hub = hub
        self.platforms = platforms
        self.secureForm = secureForm
    }

    /// Sends one notification per platform, each to the devices that the expression names.
    ///
    /// A platform that fails does not stop the others, unless the hub itself cannot be reached: the next platform
    /// would wait for the same deadline in vain.
    func send(
        to audience: TagExpression, on platforms: [Platform], requestID: String,
        _ payload: (Platform) -> HubNotification?
    ) -> SendResult {
        var result = SendResult()
        let hub = hub.tracking(requestID)
        for platform in platforms {
            guard let notification = payload(platform) else { continue }
            send(notification, to: audience, as: platform.rawValue, hub, in: &result)
        }
        return result
    }

    /// Sends one notification to the devices that registered templates, of whatever platform, and adds what became of it.
    func sendTemplate(
        _ notification: HubNotification, to audience: TagExpression, requestID: String, in result: inout SendResult
    ) {
        send(notification, to: audience, as: SendResult.templateName, hub.tracking(requestID), in: &result)
    }

    private func send(
        _ notification: HubNotification, to audience: TagExpression, as name: String, _ hub: any Hub,
        in result: inout SendResult
    ) {
        if result.isHubOutOfReach {
            return result.record(name, .failure(.unreachable("", mayHaveActed: false)))
        }
        result.record(name, Result { () throws(HubError) in try hub.send(notification, to: audience) })
    }
}

/// What became of one send on all its platforms.
struct SendResult {
    /// What an outcome calls the send to templates, in the place of a platform.
    static let templateName = "template"
    /// The state of a platform that cannot express the message at all.
    static let skipped = "Skipped"

    private(set) var outcomes: [SendOutcome.PlatformOutcome] = []
    /// What the first platform failed with; for the status when none took it, and for the log.
    private(set) var firstError: HubError?

    /// Whether some platform has waited for the hub in vain.
    private(set) var isHubOutOfReach = false

    /// Whether anything may have been sent, although no call succeeded.
    private(set) var mayHaveActed = false

    /// Notes what of a message a platform cannot express; one that was not tried is `Skipped`.
    mutating func note(_ name: String, ignored: [PushMessage.Member]) {
        let ignored = ignored.map(\.rawValue)
        guard let index = outcomes.firstIndex(where: { $0.platform == name }) else {
            return outcomes.append(.init(platform: name, state: Self.skipped, ignored: ignored))
        }
        outcomes[index].ignored = ignored
    }

    mutating func record(_ name: String, _ result: Result<SendReceipt, HubError>) {
        switch result {
        case .success(let receipt):
            mayHaveActed = true
            let state = receipt.hasNoTarget ? NotificationDetails.noTargetFound : "Enqueued"
            outcomes.append(.init(platform: name, state: state, notificationID: receipt.notificationID))
        case .failure(let error):
            outcomes.append(.init(platform: name, state: "Abandoned", error: Problem(error).detail))
            firstError = firstError ?? error
            mayHaveActed = mayHaveActed || error.mayHaveActed
            if case .unreachable = error { isHubOutOfReach = true }
        }
    }
}
