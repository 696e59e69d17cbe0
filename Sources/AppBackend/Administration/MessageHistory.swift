// SPDX-License-Identifier: Apache-2.0
package import DeviceAPI
package import JSON
package import NotificationHub
package import Store
package import Text

/// What was sent by whom to whom, and what became of it, for operators: one way for commands and for the API. No title and no
/// text is in it.
package struct MessageHistory: Sendable {
    /// Which messages a list has.
    package struct Wish: Sendable {
        /// The sender, as the owner that they were; nil: all senders.
        package var owner: String?
        /// The name of a user who has sent the message, or whom it names as a recipient; nil: of all users.
        package var user: String?
        /// The list begins behind it; nil: with the newest.
        package var place: SentMessage.Place?
        package var limit: Int

        package init(limit: Int) { self.limit = limit }
    }

    /// One of a list.
    package struct Entry: Sendable {
        package let message: SentMessage
        /// How many users have opened it.
        package let opened: Int
        /// What became of it, as its timeline tells.
        package let outcomes: [MessageTimeline.PlatformOutcome]
    }

    /// What became of one message.
    package struct Report: Sendable {
        package let sender: String
        /// What the sender sees.
        package let timeline: MessageTimeline
        /// For operators alone: in the order of the platforms, those that the hub names.
        package let devices: [Device]
    }

    /// What became of a message at one device.
    package struct Device: Sendable {
        package let platform: String
        package let id: String
        /// Whose it is; nil: it is removed.
        package let user: String?
        /// As the platform's counts name it.
        package let outcome: String
    }

    let store: any StateStore
    let now: @Sendable () -> Timestamp

    package init(store: any StateStore, now: @escaping @Sendable () -> Timestamp) {
        (self.store, self.now) = (store, now)
    }

    /// Newest first. A later user of a name is found with the former ones: the list shows all of them by that name.
    /// - Parameter ask: the hub, for what it says now, by its own names of several messages.
    package func list(
        _ wish: Wish, ask: ([String]) -> [Result<NotificationDetails?, HubError>]
    ) throws(StoreError) -> [Entry] {
        let time = now()
        let messages = try store.sentMessages(
            owner: wish.owner, behind: wish.place, limit: wish.limit, now: time, where: wish.includes)
        let answers = Self.answers(messages.flatMap(\.notificationIDs), ask)
        var entries: [Entry] = []
        for message in messages {
            entries.append(
                Entry(
                    message: message, opened: try store.openings(ofMessage: message.id, now: time),
                    outcomes: message.platformOutcomes(answers)))
        }
        return entries
    }

    /// So many sends are asked for together: of a hub elsewhere each is a call over the network.
    private static let askedTogether = 100

    /// A hub that does not answer is not asked any further.
    static func answers(
        _ ids: [String], _ ask: ([String]) -> [Result<NotificationDetails?, HubError>]
    ) -> HubAnswers {
        var answers: HubAnswers = [:]
        var failure: HubError?
        for start in stride(from: 0, to: ids.count, by: askedTogether) {
            let part = Array(ids[start...].prefix(askedTogether))
            let told = failure.map { error in part.map { _ in Result.failure(error) } } ?? ask(part)
            for case .failure(let error) in told { failure = error }
            answers.merge(zip(part, told)) { $1 }
        }
        return answers
    }

    /// The message of that id; nil when it never was, or is forgotten.
    package func message(_ id: String) throws(StoreError) -> SentMessage? {
        guard NotificationNames.isToken(id) else { return nil }
        return try store.sentMessage(id, now: now())
    }

    /// What became of a message.
    /// - Parameter ask: the hub, for what it says now, by its own names of the message.
    package func report(
        _ message: SentMessage, ask: ([String]) -> [Result<NotificationDetails?, HubError>]
    ) throws(StoreError) -> Report {
        let answers = message.answers(ask)
        return Report(
            sender: message.sender, timeline: try MessageTimeline(message, answers, in: store, now: now()),
            devices: try devices(message, answers))
    }

    private func devices(_ message: SentMessage, _ answers: HubAnswers) throws(StoreError) -> [Device] {
        var devices: [Device] = []
        for outcome in message.outcomes {
            guard let id = outcome.notificationID, case .success(let details?) = answers[id] else { continue }
            for device in details.devices {
                let owner = try store.device(device.registrationID)?.owner
                devices.append(
                    Device(
                        platform: outcome.platform, id: device.registrationID, user: owner.map(User.name(ofOwner:)),
                        outcome: device.name))
            }
        }
        return devices
    }
}

extension MessageHistory.Report {
    /// As `GET /api/admin/messages/{MessageId}` answers it.
    package var json: JSONWriter {
        JSONWriter.object { json in
            json.member("From", sender)
            timeline.writeMembers(to: &json)
            guard !devices.isEmpty else { return }
            json.member("Devices", devices) { $0.writeMembers(to: &$1) }
        }
    }
}

extension MessageHistory.Device {
    fileprivate func writeMembers(to json: inout JSONWriter) {
        json.member("Platform", platform)
        json.member("RegistrationId", id)
        if let user { json.member("User", user) }
        json.member("Outcome", outcome)
    }
}

extension MessageHistory.Wish {
    func includes(_ message: SentMessage) -> Bool {
        if let owner, !message.owner.hasSameBytes(as: owner) { return false }
        if let place, message.place >= place { return false }
        return user.map { message.names(UserName($0)?.description ?? $0) } ?? true
    }
}

extension SentMessage {
    /// The sender's name.
    package var sender: String { User.name(ofOwner: owner) }

    /// Whether the user of that name has sent it, or is a recipient by that name; not one who is by a tag.
    fileprivate func names(_ user: String) -> Bool {
        if sender == user { return true }
        if let recipient { return User.name(ofOwner: recipient) == user }
        return to.split(separator: PushMessage.Recipients.separator)
            .contains { UserName(String($0))?.description == user }
    }
}
