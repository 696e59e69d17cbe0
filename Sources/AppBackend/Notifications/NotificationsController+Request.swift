// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import NotificationHub

/// `POST /api/notifications/requests`: the call of the tutorial for .NET MAUI.
extension NotificationsController {
    /// Sends a request as the message object that it means: to the devices of its user, or to all that have one of its tags.
    func sendRequest(_ request: UserRequest) throws -> Response {
        try request.http.requireJSON()
        let wish = try PushRequest(body: request.body)
        let sender = request.user
        let tags = try tags(of: wish, sender: sender)
        // Its apps do not know how to fetch a text.
        guard !policy.isSecureOnly(sender.record, nil) else { throw Self.onlySecure(nil) }
        guard !tags.isEmpty else {
            let message = wish.message(to: .one(sender.name))
            let user = try recipient(sender.name, sender: sender, field: Self.tagsField)
            return try send(message, to: user, on: try platforms(of: message), request)
        }
        let message = wish.message(to: .several(tags.map { TagPolicy.tagPrefix + $0.description }))
        let devices = try TagExpression.any(of: tags)
        // An expression has no room for more than 20 tags, so the tag by which devices hear the sender is left out.
        let audience = try Audience(
            devices: devices, templates: message.reachesTemplates ? [devices] : [], besides: nil)
        return try send(message, to: audience, on: try platforms(of: message), request)
    }

    private static let tagsField = "tags"

    /// The request's tags, each once, checked against the sender's policy.
    /// - Throws: `Problem` 400 for what is no tag and for too many, 403 for a tag that the sender may not send to.
    private func tags(of wish: PushRequest, sender: Principal) throws(Problem) -> [Tag] {
        let rights = policy.rights(of: sender)
        let maximum = TagExpression.maximumTagsOfDisjunction
        var tags: [Tag] = []
        for text in wish.tags {
            guard let tag = try? Tag(text) else { throw Rights.illegalTag(Self.tagsField) }
            try check(tag, rights: rights, sender: sender, field: Self.tagsField, named: text)
            if tags.contains(tag) { continue }
            guard tags.count < maximum else {
                throw Problem(.tooManyTags, "A request has at most \(maximum) tags.", field: Self.tagsField)
            }
            tags.append(tag)
        }
        return tags
    }
}
