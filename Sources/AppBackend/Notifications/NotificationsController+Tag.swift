// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import NotificationHub
import Store

/// A message object to all devices with a tag
extension NotificationsController {
    /// Devices that have registered templates are of any platform, so they are left out where the message names its platforms.
    func sendToTag(
        _ text: String, _ message: PushMessage, on platforms: [Platform], _ request: UserRequest
    ) throws -> Response {
        let sender = request.user
        let tag = try Self.tag(text)
        try check(tag, rights: policy.rights(of: sender), sender: sender)
        try checkPlain(message, to: "a tag", sender: sender)
        return try sendToAll(with: tag, message, on: platforms, request)
    }

    /// Sends to all devices with the tag, which was checked, and to those that may hear the sender.
    func sendToAll(
        with tag: Tag, _ message: PushMessage, on platforms: [Platform], _ request: UserRequest
    ) throws -> Response {
        let audience = try Audience(
            devices: try Self.audience(.tag(tag), hearing: request.user.name),
            templates: message.reachesTemplates ? [.tag(tag)] : [],
            besides: try sendingDevice(of: message, request.user))
        return try send(message, to: audience, on: platforms, request)
    }

    static func tag(_ text: String) throws(Problem) -> Tag {
        guard let tag = try? Tag(text) else {
            throw Problem(
                .invalidRecipient, "To must be a user's name, or tag: and a tag, as in tag:news.",
                field: PushMessage.Member.to.rawValue)
        }
        return tag
    }

    /// - Parameters:
    ///   - field: where the request names it.
    ///   - name: what a refusal calls it, where there are several; nil: it is the only one.
    /// - Throws: `Problem` 403 for a tag that the sender may not send to.
    func check(
        _ tag: Tag, rights: Rights, sender: Principal, field: String = PushMessage.Member.to.rawValue,
        named name: String? = nil
    ) throws(Problem) {
        guard rights.maySend(to: tag) else { throw rights.forbiddenRecipient(field, named: name) }
        try sender.scope.check(recipient: nil, field: field, named: name)
    }

    /// - Parameters:
    ///   - audience: as a refusal calls it.
    ///   - recipient: the one whose devices all of it are.
    /// - Throws: `Problem` 400 for a secure message, 403 where no other may be sent.
    func checkPlain(
        _ message: PushMessage, to audience: String, sender: Principal, recipient: User? = nil
    ) throws(Problem) {
        guard !message.isSecure else {
            throw Problem(
                .secureNotPossible, "A message to \(audience) cannot be secure: a text is kept for one user.",
                field: PushMessage.Member.secure.rawValue)
        }
        guard !policy.isSecureOnly(sender.record, recipient) else {
            throw Self.onlySecure(PushMessage.Member.to.rawValue)
        }
    }

    /// - Parameter field: where the request names what cannot be kept; nil: it is all of it.
    static func onlySecure(_ field: String?) -> Problem {
        Problem(.secureOnly, "Only secure messages may be sent here, and those to users.", field: field)
    }
}

extension PushMessage {
    /// Whether devices of the older call with a tag get it: they are of any platform, and a template shows a text.
    var reachesTemplates: Bool { !isSilent && platforms.isEmpty }
}
