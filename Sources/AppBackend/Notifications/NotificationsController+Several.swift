// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import Logging
import NotificationHub
import Store
import Text

/// A message object to several users, and to devices with tags and of roles
extension NotificationsController {
    /// Sends one message a platform to all of them. A secure one is kept for each user on their own.
    /// - Throws: `Problem`, when one of the recipients is refused; then nothing is kept, and nothing is sent.
    func sendToSeveral(
        _ texts: [String], _ message: PushMessage, on platforms: [Platform], _ request: UserRequest
    ) throws -> Response {
        let recipients = try recipients(texts, sender: request.user)
        if try isSecure(message, to: recipients, sender: request.user) {
            if let fault = message.secureFault { throw fault }
            for user in recipients.users {
                try checkExists(
                    user, sender: request.user, field: PushMessage.Member.to.rawValue, named: user.name)
            }
            return try keepAndSend(message, to: recipients.users, on: platforms, request)
        }
        let from = try sendingDevice(of: message, request.user)
        var audience = try Audience(
            devices: try Self.audience(try .any(of: try recipients.allTags), hearing: request.user.name),
            templates: try templateAudiences(of: recipients, for: message, on: platforms, besides: from, request),
            besides: from)
        if !message.isSilent {
            audience.kept = recipients.users.compactMap {
                keep(PlainMessage(message), for: $0, as: dueToken(for: $0.owner), request)
            }
        }
        return try send(message, to: audience, on: platforms, request)
    }

    /// Each of them once.
    private struct Recipients {
        var names: [UserName] = []
        /// Tags that users claim.
        var tags: [Tag] = []
        /// The tags of roles.
        var roles: [Tag] = []
        /// Those of the names.
        var users: [Principal] = []

        var count: Int { names.count + tags.count + roles.count }

        /// By which devices of users whom the list does not name are reached.
        var groups: [Tag] { tags + roles }

        /// What a refusal calls the first of these.
        var groupKind: String { tags.isEmpty ? "a role" : "a tag" }

        var allTags: [Tag] {
            get throws(Problem) {
                var all: [Tag] = []
                for user in users { all.append(try TagPolicy.userTag(user.owner)) }
                return all + groups
            }
        }

        mutating func add(_ text: String) throws(Problem) {
            switch Recipient(text) {
            case .role(let name):
                let role = try NotificationsController.role(name)
                if !roles.contains(role) { roles.append(role) }
            case .tag(let text):
                let tag = try NotificationsController.tag(text)
                if !tags.contains(tag) { tags.append(tag) }
            case .user, .device, .expression, .everyone:
                guard let name = UserName(text) else {
                    throw Problem(
                        .invalidRecipient, "A list in To holds names of users, and tag: and a tag, as in tag:news.",
                        field: PushMessage.Member.to.rawValue)
                }
                if !names.contains(name) { names.append(name) }
            }
        }
    }

    /// The recipients, checked against the sender's policy.
    /// - Throws: `Problem` 400 or 403, naming one of them; `StoreError`.
    private func recipients(_ texts: [String], sender: Principal) throws -> Recipients {
        let field = PushMessage.Member.to.rawValue
        let rights = policy.rights(of: sender)
        var recipients = Recipients()
        for text in texts where recipients.count <= PushMessage.maximumRecipients { try recipients.add(text) }
        guard (1...PushMessage.maximumRecipients).contains(recipients.count) else {
            throw Problem(
                .invalidRecipient, "A list in To must name 1 to \(PushMessage.maximumRecipients) recipients.",
                field: field)
        }
        for tag in recipients.tags {
            try check(tag, rights: rights, sender: sender, named: TagPolicy.tagPrefix + tag.description)
        }
        for role in recipients.roles { try check(role: role, rights: rights, sender: sender, named: role.description) }
        recipients.users = try recipients.names.map {
            try recipient($0, sender: sender, rights: rights, field: field, named: $0.description)
        }
        return recipients
    }

    /// Whether only ids may travel, because the sender wants that, or the site or one of the users: who is most careful decides
    /// for all.
    /// - Throws: `Problem` 400 or 403, where there is a tag or a role besides.
    private func isSecure(
        _ message: PushMessage, to recipients: Recipients, sender: Principal
    ) throws(Problem) -> Bool {
        let careful = recipients.users.first { $0.record?.isSecureOnly == true }
        guard !recipients.groups.isEmpty else {
            return message.isSecure || careful != nil || policy.isSecureOnly(sender.record, nil)
        }
        try checkPlain(message, to: recipients.groupKind, sender: sender)
        guard let careful else { return false }
        throw Problem(
            .secureOnly,
            "Only secure messages may be sent to \(careful.name), and \(recipients.groupKind) beside them gets none.",
            field: PushMessage.Member.to.rawValue)
    }

    /// Devices that have registered templates: all those of the list with one message, and users with devices of other
    /// platforms than the message names with one each.
    private func templateAudiences(
        of recipients: Recipients, for message: PushMessage, on platforms: [Platform], besides sending: SendingDevice?,
        _ request: UserRequest
    ) throws -> [TagExpression] {
        guard !message.isSilent else { return [] }
        var together = message.reachesTemplates ? recipients.groups : []
        var alone: [TagExpression] = []
        for user in recipients.users {
            guard
                let audience = try templateAudience(
                    of: user.owner, devices(of: user.owner, request), on: platforms, besides: sending)
            else { continue }
            let tag = try TagPolicy.userTag(user.owner)
            if message.platforms.isEmpty || audience == .tag(tag) {
                together.append(tag)
            } else {
                alone.append(audience)
            }
        }
        return (together.isEmpty ? [] : [try .any(of: together)]) + alone
    }

    // MARK: Secure

    /// Keeps the payload for each of them, durably, and only then sends the ids, each to its own user's devices.
    private func keepAndSend(
        _ message: PushMessage, to users: [Principal], on platforms: [Platform], _ request: UserRequest
    ) throws -> Response {
        let from = try sendingDevice(of: message, request.user)
        let audiences = try users.map {
            try secureAudience(of: $0, devices(of: $0.owner, request), on: platforms, besides: from)
        }
        if let response = try schedule(message, request) { return response }
        let kept = try keepAll(PlainMessage(message).text, for: users, request)
        var messages: [OutgoingMessage] = []
        var ids: [String: Int32] = [:]
        for ((user, audience), kept) in zip(zip(users, audiences), kept) {
            messages += self.messages(of: kept, to: audience, on: platforms, recipient: user.name)
            ids[user.name] = kept.id
        }
        var send = notifications.send(messages, by: request.user.owner, requestID: request.id)
        send.secureIDs = ids
        send.kept = dueKept(kept)
        let time = now()
        var random = KernelRandom()
        send.message = SentMessage(
            id: dueID ?? NotificationNames.token(using: &random), owner: request.user.owner,
            to: users.map(\.name).joined(separator: PushMessage.Recipients.separator), sentAt: time, isSecure: true,
            expiresAt: time + Self.sentSeconds)
        return try answer(send, to: request)
    }

    /// - Throws: `Problem` 429, which names the user of whom the sender has left too much unread; `StoreError`. What was kept
    ///   for others is taken back.
    private func keepAll(
        _ payload: String, for users: [Principal], _ request: UserRequest
    ) throws -> [SecureNotification] {
        var kept: [SecureNotification] = []
        for user in users {
            do {
                kept.append(
                    try keepSecure(
                        payload, for: user, field: PushMessage.Member.to.rawValue, named: user.name,
                        as: dueToken(for: user.owner),
                        request))
            } catch {
                for one in kept { takeBack(Kept(one), request) }
                throw error
            }
        }
        return kept
    }
}
