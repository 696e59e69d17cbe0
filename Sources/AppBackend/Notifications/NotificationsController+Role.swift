// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import NotificationHub

/// A message object to all devices of the users with a role: `role:oncall`
extension NotificationsController {
    func sendToRole(
        _ name: String, _ message: PushMessage, on platforms: [Platform], _ request: UserRequest
    ) throws -> Response {
        let sender = request.user
        let tag = try Self.role(name)
        try check(role: tag, rights: policy.rights(of: sender), sender: sender)
        try checkPlain(message, to: "a role", sender: sender)
        return try sendToAll(with: tag, message, on: platforms, request)
    }

    /// The tag of a role, whether there is such a role or not.
    static func role(_ name: String) throws(Problem) -> Tag {
        guard !name.isEmpty, let tag = try? Tag(TagPolicy.rolePrefix + name) else {
            throw Problem(
                .invalidRecipient, "To names no role: it is role: and a role, as in role:oncall.",
                field: PushMessage.Member.to.rawValue)
        }
        return tag
    }

    /// - Parameter shown: what a refusal calls it, where there are several; nil: it is the only one.
    /// - Throws: `Problem` 403 for a role that the sender may not send to, and 400 for one that the configuration does not have.
    ///   Only those who may send there learn that.
    func check(
        role: Tag, rights: Rights, sender: Principal, named shown: String? = nil
    ) throws(Problem) {
        let field = PushMessage.Member.to.rawValue
        let name = String(role.description.dropFirst(TagPolicy.rolePrefix.count))
        guard rights.maySend(toRole: name) else { throw rights.forbiddenRecipient(field, named: shown) }
        try sender.scope.check(recipient: nil, field: field, named: shown)
        guard policy.role(named: name) != nil else {
            throw Problem(.unknownRole, "There is no role \(name) in the configuration.", field: field)
        }
    }
}
