// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import NotificationHub

/// A message object to the devices that an expression of tags means: `tags:news && !beta`
extension NotificationsController {
    /// Devices that have registered templates get it as with one tag.
    func sendToExpression(
        _ text: String, _ message: PushMessage, on platforms: [Platform], _ request: UserRequest
    ) throws -> Response {
        let sender = request.user
        let expression = try Self.expression(text)
        let devices = try Self.audience(expression, hearing: sender.name)
        guard devices.isWithinLimits else { throw Self.tooManyTags }
        // Hubs read it with all the parentheses that make it plain.
        guard (try? TagExpression(parsing: devices.description)) != nil else {
            throw Self.malformed(TagExpressionError(offset: 0, reason: .tooDeep))
        }
        try check(expression, sender: sender)
        try checkPlain(message, to: "a tag", sender: sender)
        let audience = try Audience(
            devices: devices, templates: message.reachesTemplates ? [expression] : [],
            besides: try sendingDevice(of: message, sender))
        return try send(message, to: audience, on: platforms, request)
    }

    /// - Throws: `Problem` 400, with the place in `To`.
    private static func expression(_ text: String) throws(Problem) -> TagExpression {
        do throws(TagExpressionError) {
            return try TagExpression(parsing: text)
        } catch {
            throw error.reason == .tooManyTags ? tooManyTags : malformed(error)
        }
    }

    private static func malformed(_ error: TagExpressionError) -> Problem {
        let place = TagExpressionError(
            offset: TagPolicy.expressionPrefix.utf8.count + error.offset, reason: error.reason)
        return Problem(
            .invalidRecipient, "To is no expression of tags: \(place).", field: PushMessage.Member.to.rawValue)
    }

    /// One less than a hub takes: the tag by which devices hear the sender comes to them.
    private static var tooManyTags: Problem {
        Problem(
            .tooManyTags,
            "An expression in To has at most \(TagExpression.maximumTagsOfDisjunction - 1) tags joined by || alone, otherwise "
                + "at most \(TagExpression.maximumTags - 1).",
            field: PushMessage.Member.to.rawValue)
    }

    /// Each tag needs the grant that it needs alone, also one that is to be missing. An expression that a device without any of
    /// them matches, such as `!beta`, means nearly everyone.
    /// - Throws: `Problem` 403.
    private func check(_ expression: TagExpression, sender: Principal) throws(Problem) {
        let rights = policy.rights(of: sender)
        for tag in expression.tags {
            try check(tag, rights: rights, sender: sender, named: TagPolicy.tagPrefix + tag.description)
        }
        guard expression.matches([]), !rights.mayBroadcast else { return }
        throw Problem(
            .recipientNotAllowed,
            "This expression means devices with none of its tags, too, which needs the right to send to everyone "
                + "(roles.broadcast).", field: PushMessage.Member.to.rawValue)
    }
}
