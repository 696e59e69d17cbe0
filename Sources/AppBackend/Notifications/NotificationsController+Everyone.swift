// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import NotificationHub

/// A message object to all devices that the hub knows
extension NotificationsController {
    /// Sends one message a platform, without tags. Devices that have registered templates get it as with a tag.
    /// - Throws: `Problem` 403, unless a role of the sender's grants it; no pattern does.
    func sendToEveryone(_ message: PushMessage, on platforms: [Platform], _ request: UserRequest) throws -> Response {
        let sender = request.user
        let field = PushMessage.Member.to.rawValue
        guard policy.rights(of: sender).mayBroadcast else {
            throw Problem(.recipientNotAllowed, "You may not send to everyone (roles.broadcast).", field: field)
        }
        try sender.scope.check(recipient: nil, field: field)
        try checkPlain(message, to: "everyone", sender: sender)
        return try send(
            message,
            to: Audience(
                devices: nil, templates: message.reachesTemplates ? [nil] : [],
                besides: try sendingDevice(of: message, sender)),
            on: platforms, request)
    }
}
