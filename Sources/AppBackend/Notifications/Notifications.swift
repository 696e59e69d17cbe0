// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
package import NotificationHub
import Store
package import Text

/// The hub and the platforms that it has credentials for; handed to the two controllers. (In the tutorial it is a
/// global, `Notifications.Instance`.)
package struct Notifications: Sendable {
    package let hub: any Hub
    /// Platforms that are sent to, in the order in which they are tried.
    package let platforms: [Platform]

    package let secureForm: SecureForm
    /// When the hub is to send all that is sent here, and no inbox has it; nil: at once. A command sends later, no service.
    package var sendAt: Timestamp?

    package init(hub: any Hub, platforms: [Platform], secureForm: SecureForm = .silent) {
        self.hub = hub
        self.platforms = platforms
        self.secureForm = secureForm
    }

    /// Hands the hub all messages together. It does not wait for a hub that is elsewhere.
    /// - Parameter sender: the owner in whose share of the hub's queue they count.
    func send(_ messages: [OutgoingMessage], by sender: String, requestID: String) -> PendingSend {
        let addressed = messages.map { $0.message.sent(by: sender, at: sendAt) }
        return PendingSend(messages.map(\.name), hub.tracking(requestID).start(addressed))
    }
}

/// A message for the hub, and what an outcome calls it.
struct OutgoingMessage: Sendable {
    struct Name: Sendable {
        /// Or `SendResult.templateName`.
        let platform: String
        /// The user whom it is for, where the outcome tells of several; else nil.
        let recipient: String?
    }

    let name: Name
    let message: AddressedNotification

    /// One message per platform, each to the devices that the expression names (nil: all).
    /// - Parameters:
    ///   - templates: more, to the devices that registered templates, of whatever platform.
    ///   - recipient: as the outcome calls them.
    static func messages(
        to audience: TagExpression?, on platforms: [Platform], templates: [AddressedNotification],
        recipient: String? = nil, _ payload: (Platform) -> HubNotification?
    ) -> [OutgoingMessage] {
        platforms.compactMap { platform in
            payload(platform).map {
                OutgoingMessage(
                    name: Name(platform: platform.rawValue, recipient: recipient),
                    message: AddressedNotification($0, to: audience))
            }
        }
            + templates.map {
                OutgoingMessage(name: Name(platform: SendResult.templateName, recipient: recipient), message: $0)
            }
    }
}

/// One send on all its platforms, which the hub has been handed.
struct PendingSend: Sendable {
    /// What an outcome calls each message.
    private let names: [OutgoingMessage.Name]
    /// The hub's, one for each of the names.
    let answers: PendingSends
    /// By platform, what of the message it cannot express; empty: that is not to be said.
    var ignored: [(platform: String, members: [PushMessage.Member])] = []
    /// What was kept of it for inboxes.
    var kept: [NotificationsController.Kept] = []
    /// Of a secure message to one user.
    var secureID: Int32?
    /// Of a secure message to several users, by their names.
    var secureIDs: [String: Int32] = [:]

    /// What is remembered of a message object, its outcomes not yet in it; nil: a string was sent.
    var message: SentMessage?

    init(_ names: [OutgoingMessage.Name], _ answers: PendingSends) {
        (self.names, self.answers) = (names, answers)
    }

    /// Whether a text waits for its owner, whatever became of the send.
    var isSecure: Bool { secureID != nil || !secureIDs.isEmpty }

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

    /// As `firstError`, but where there are several one that may be gone at the next try.
    private(set) var passingError: HubError?

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

    mutating func record(_ name: OutgoingMessage.Name, _ result: Result<SendReceipt, HubError>) {
        let (platform, recipient) = (name.platform, name.recipient)
        switch result {
        case .success(let receipt):
            mayHaveActed = true
            let state = receipt.hasNoTarget ? NotificationDetails.noTargetFound : "Enqueued"
            outcomes.append(
                .init(
                    platform: platform, recipient: recipient, state: state, notificationID: receipt.notificationID))
        case .failure(let error):
            outcomes.append(
                .init(
                    platform: platform, recipient: recipient, state: "Abandoned", error: Problem(error).detail))
            firstError = firstError ?? error
            if passingError == nil || passingError == .payloadTooLarge { passingError = error }
            mayHaveActed = mayHaveActed || error.mayHaveActed
        }
    }
}
