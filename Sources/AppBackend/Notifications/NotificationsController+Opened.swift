// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import NotificationHub
import Store

/// `POST /api/notifications/{MessageId}/opened`
extension NotificationsController {
    /// Notes that the caller, a recipient of the message, has opened it; doing it again changes nothing. A message that is another
    /// user's, is forgotten or never was is 404, all alike.
    func noteOpening(_ request: UserRequest, _ id: String) throws -> Response {
        let (user, time) = (request.user, now())
        guard NotificationNames.isToken(id), let message = try store.sentMessage(id, now: time),
            try isRecipient(user, of: message)
        else { throw InboxController.noSuchMessage }
        let isFirst = try store.noteOpening(
            MessageOpening(opener: user.owner, message: message.id, expiresAt: message.expiresAt), now: time)
        if isFirst { changes.webhooks?.tellOpening(of: message, by: user.owner) }
        return Response()
    }

    /// The one user, one of several, or one of those who have a device with the tags now; not a user who only overhears the
    /// sender.
    private func isRecipient(_ user: Principal, of message: SentMessage) throws(StoreError) -> Bool {
        if let recipient = message.recipient { return recipient.hasSameBytes(as: user.owner) }
        let registered = try store.devices(owner: user.owner).filter { !$0.platform.isEmpty }
        let devices = registered.map { device in device.tags.compactMap { try? Tag($0) } }
        return message.to.split(separator: PushMessage.Recipients.separator).contains { part in
            func haveTag(_ text: String) -> Bool {
                (try? Tag(text)).map { tag in devices.contains { $0.contains(tag) } } ?? false
            }
            switch Recipient(String(part)) {
            case .user(let name): return UserName(name)?.description == user.name
            case .tag(let text): return haveTag(text)
            case .role(let name): return haveTag(TagPolicy.rolePrefix + name)
            case .device(let id): return registered.contains { $0.id == id || $0.alias == id }
            case .expression(let text):
                guard let expression = try? TagExpression(parsing: text) else { return false }
                return devices.contains { expression.matches(Set($0)) }
            case .everyone: return !devices.isEmpty
            }
        }
    }
}
