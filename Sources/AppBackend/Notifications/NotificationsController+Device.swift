// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import NotificationHub
import Store

/// A message object to one device, `device:7260336227650468927-4200236381151834034-1`, and one that a device does not get because it
/// is sent from there
extension NotificationsController {
    /// Sends to that device alone; no other hears the sender.
    func sendToDevice(
        _ id: String, _ message: PushMessage, on platforms: [Platform], _ request: UserRequest
    ) throws -> Response {
        let sender = request.user
        let (device, tag, owner) = try device(id, sender: sender)
        try checkPlain(message, to: "a device", sender: sender, recipient: owner.record)
        let isWanted = platforms.contains { $0.rawValue == device.platform }
        let hasTemplate = device.hasTemplate && isWanted && !message.isSilent
        let audience = try Audience(
            devices: .tag(tag), templates: hasTemplate ? [.tag(tag)] : [],
            besides: try sendingDevice(of: message, sender))
        // On all that are wanted, where it is of none of them: the outcome says so.
        let own = hasTemplate ? [] : platforms.filter { $0.rawValue == device.platform }
        return try send(message, to: audience, on: hasTemplate || isWanted ? own : platforms, request)
    }

    /// - Throws: `Problem` 403, the same for a device of a user to whom the sender may not send, and for one that is not there:
    ///   so no sender learns which ids there are.
    private func device(
        _ id: String, sender: Principal
    ) throws -> (device: DeviceRecord, tag: Tag, owner: Principal) {
        let (field, rights) = (PushMessage.Member.to.rawValue, policy.rights(of: sender))
        let refused = Problem(
            .recipientNotAllowed, "There is no such device, or you may not send to it (\(rights.sendTo.rules)).",
            field: field)
        guard let id = RegistrationID(id), let tag = Tag(registration: id),
            let device = try store.device(id.description), !device.platform.isEmpty,
            let name = UserName(User.name(ofOwner: device.owner))
        else { throw refused }
        let owner: Principal
        do {
            owner = try recipient(name, sender: sender, rights: rights, field: field)
        } catch is Problem {
            throw refused
        }
        guard owner.owner.hasSameBytes(as: device.owner) else { throw refused }
        return (device, tag, owner)
    }

    /// The sender's device that a message is not to reach; nil: it names none.
    /// - Throws: `Problem` 400 for what is not the id of one of the sender's own devices, neither the registration's nor the one that
    ///   its app has; `StoreError`.
    func sendingDevice(of message: PushMessage, _ sender: Principal) throws -> SendingDevice? {
        guard let id = message.fromDevice else { return nil }
        let device = try store.devices(owner: sender.owner).first { device in
            !device.platform.isEmpty
                && (device.id.hasSameBytes(as: id) || device.alias?.hasSameBytes(as: id) == true)
        }
        guard let device, let tag = device.ownTag else {
            throw Problem(
                .unknownDevice, "FromDevice must be the registration id of one of your devices.",
                field: PushMessage.Member.fromDevice.rawValue)
        }
        return SendingDevice(
            id: device.id, tag: tag, tags: Set(try RegisterController.hubTags(of: device, at: notifications.hub)),
            hasTemplate: device.hasTemplate)
    }
}

/// The device that a message is sent from, and that is not to get it.
struct SendingDevice: Sendable {
    let id: String
    /// Its own.
    let tag: Tag
    /// All that it bears at the hub.
    let tags: Set<Tag>
    /// Whether templates are all that reaches it.
    let hasTemplate: Bool

    /// The same devices without this one. What does not mean it stays as it is, and so needs no room for one tag more.
    /// - Parameter audience: nil: all.
    /// - Throws: `Problem` 400, when a hub would not take so long an expression.
    func left(outOf audience: TagExpression?) throws(Problem) -> TagExpression {
        let others = TagExpression.not(.tag(tag))
        guard let audience else { return others }
        guard audience.matches({ $0 == tag || tags.contains($0) }) else { return audience }
        let left = TagExpression.and(audience, others)
        guard (try? TagExpression(parsing: left.description)) != nil else {
            throw Problem(
                .tooManyTags,
                "A hub leaves a device out of at most \(TagExpression.maximumTags - 2) users, tags and roles in To: name fewer, or "
                    + "leave FromDevice out.",
                field: PushMessage.Member.fromDevice.rawValue)
        }
        return left
    }
}
