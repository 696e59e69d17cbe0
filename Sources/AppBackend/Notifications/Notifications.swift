// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
package import NotificationHub
import Store

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

    /// Hands the hub one notification per platform, each to the devices that the expression names, and all of them together.
    /// It does not wait for a hub that is elsewhere.
    /// - Parameter template: one more, to the devices that registered templates, of whatever platform.
    func send(
        to audience: TagExpression, on platforms: [Platform], template: AddressedNotification?, requestID: String,
        _ payload: (Platform) -> HubNotification?
    ) -> PendingSend {
        var messages = platforms.compactMap { platform in
            payload(platform).map { (platform.rawValue, AddressedNotification($0, to: audience)) }
        }
        if let template { messages.append((SendResult.templateName, template)) }
        return PendingSend(
            names: messages.map { $0.0 }, answers: hub.tracking(requestID).start(messages.map { $0.1 }))
    }
}

/// One send on all its platforms, which the hub has been handed.
struct PendingSend: Sendable {
    /// What an outcome calls each message: its platform.
    let names: [String]
    /// The hub's, one for each of the names.
    let answers: PendingSends
    /// By platform, what of the message it cannot express; empty: that is not to be said.
    var ignored: [(platform: String, members: [PushMessage.Member])] = []
    /// What was kept of it for the inbox.
    var kept: NotificationsController.Kept?
    /// What is remembered of a message object, its outcomes not yet in it; nil: a string was sent.
    var message: SentMessage?

    /// What became of it so far.
    var result: SendResult {
        var result = SendResult()
        for (name, answer) in zip(names, answers.results) { result.record(name, answer) }
        for (platform, members) in ignored { result.note(platform, ignored: members) }
        return result
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
        }
    }
}
