// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import Logging
import NotificationHub
import Store
import Text

/// A message object to several users, and to devices with tags
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
            return try keepAndSend(PlainMessage(message).text, to: recipients.users, on: platforms, request)
        }
        var audience = Audience(
            devices: try Self.audience(try .any(of: try recipients.allTags), hearing: request.user.name),
            templates: try templateAudiences(of: recipients, for: message, on: platforms, request))
        if !message.isSilent {
            audience.kept = recipients.users.compactMap { keep(PlainMessage(message), for: $0, request) }
        }
        return try send(message, to: audience, on: platforms, request)
    }

    /// Each of them once.
    private struct Recipients {
        var users: [Principal] = []
        var tags: [Tag] = []

        var allTags: [Tag] {
            get throws(Problem) {
                var all: [Tag] = []
                for user in users { all.append(try RegisterController.userTag(user.owner)) }
                return all + tags
            }
        }
    }

    /// The recipients, checked against the sender's policy.
    /// - Throws: `Problem` 400 or 403, naming one of them; `StoreError`.
    private func recipients(_ texts: [String], sender: Principal) throws -> Recipients {
        let field = PushMessage.Member.to.rawValue
        let rights = policy.rights(of: sender)
        var names: [UserName] = []
        var recipients = Recipients()
        for text in texts where names.count + recipients.tags.count <= PushMessage.maximumRecipients {
            if let tag = try text.tagText.map({ try Self.tag($0) }) {
                if !recipients.tags.contains(tag) { recipients.tags.append(tag) }
            } else {
                guard let name = UserName(text) else {
                    throw Problem(
                        .badRequest, "A list in To holds names of users, and tag: and a tag, as in tag:news.",
                        field: field)
                }
                if !names.contains(name) { names.append(name) }
            }
        }
        guard (1...PushMessage.maximumRecipients).contains(names.count + recipients.tags.count) else {
            throw Problem(
                .badRequest, "A list in To must name 1 to \(PushMessage.maximumRecipients) recipients.", field: field)
        }
        for tag in recipients.tags {
            try check(tag, rights: rights, sender: sender, named: TagPolicy.tagPrefix + tag.description)
        }
        recipients.users = try names.map {
            try recipient($0, sender: sender, rights: rights, field: field, named: $0.description)
        }
        return recipients
    }

    /// Whether only ids may travel, because the sender wants that, or the site or one of the users: who is most careful decides
    /// for all.
    /// - Throws: `Problem` 400 or 403, where there is a tag besides.
    private func isSecure(
        _ message: PushMessage, to recipients: Recipients, sender: Principal
    ) throws(Problem) -> Bool {
        let careful = recipients.users.first { $0.record?.isSecureOnly == true }
        guard !recipients.tags.isEmpty else {
            return message.isSecure || careful != nil || policy.isSecureOnly(sender.record, nil)
        }
        try checkPlain(message, to: "a tag", sender: sender)
        guard let careful else { return false }
        throw Problem(
            .forbidden, "Only secure messages may be sent to \(careful.name), and a tag beside them gets none.",
            field: PushMessage.Member.to.rawValue)
    }

    /// Devices that have registered templates: all those of the list with one message, and users with devices of other
    /// platforms than the message names with one each.
    private func templateAudiences(
        of recipients: Recipients, for message: PushMessage, on platforms: [Platform], _ request: UserRequest
    ) throws -> [TagExpression] {
        guard !message.isSilent else { return [] }
        var together = message.reachesTemplates ? recipients.tags : []
        var alone: [TagExpression] = []
        for user in recipients.users {
            guard let audience = try templateAudience(of: user.owner, on: platforms, request) else { continue }
            let tag = try RegisterController.userTag(user.owner)
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
        _ payload: String, to users: [Principal], on platforms: [Platform], _ request: UserRequest
    ) throws -> Response {
        let templates = try users.map { try templateAudience(of: $0.owner, on: platforms, request) }
        let kept = try keepAll(payload, for: users, request)
        var messages: [OutgoingMessage] = []
        var ids: [String: Int32] = [:]
        for ((user, templates), kept) in zip(zip(users, templates), kept) {
            messages += try self.messages(of: kept, on: platforms, templates: templates, recipient: user.name)
            ids[user.name] = kept.id
        }
        var send = notifications.send(messages, requestID: request.id)
        send.secureIDs = ids
        return try answer(send, to: request)
    }

    /// - Throws: `Problem` 429, which names the user of whom the sender has left too much unread; `StoreError`. What was kept
    ///   for others is taken back.
    private func keepAll(
        _ payload: String, for users: [Principal], _ request: UserRequest
    ) throws -> [SecureNotification] {
        var kept: [SecureNotification] = []
        let time = now()
        for user in users {
            do throws(StoreError) {
                kept.append(
                    try store.createNotification(
                        owner: user.owner, sender: request.user.owner, payload: payload, now: time,
                        expiresAt: time + retentionSeconds))
            } catch {
                for one in kept { takeBack(Kept(id: one.id, token: one.token, owner: one.owner), request) }
                guard case .shareExceeded(let seconds) = error else { throw error }
                throw Problem(
                    .tooManyRequests, "You have left as much unread with \(user.name) as one sender may.",
                    field: PushMessage.Member.to.rawValue, retryAfter: seconds)
            }
        }
        return kept
    }
}
