// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import NotificationHub
import Store
import Text

/// `GET /api/notifications/{MessageId}/timeline`
extension NotificationsController {
    /// What became of a message object on all platforms, for its sender. Another user's, one that is forgotten and one that never
    /// was are 404, all alike.
    func timeline(_ request: UserRequest, _ id: String) throws -> Response {
        let (owner, time) = (request.user.owner, now())
        guard NotificationNames.isToken(id), try store.hasSent(id, owner: owner, now: time),
            let message = try store.sentMessage(id, now: time), message.owner.hasSameBytes(as: owner)
        else { throw Problem(.notFound, "You have sent no such message.") }
        let timeline = MessageTimeline(
            messageID: message.id, to: message.to, sentAt: message.sentAt.text, isSecure: message.isSecure,
            isKept: message.keptID != nil, isRead: try isRead(message, time),
            opened: try store.openings(ofMessage: id, now: time), outcomes: presentOutcomes(of: message, request))
        var response = Response.json(timeline.json)
        response.fields[.cacheControl] = "no-store"
        return response
    }

    /// Nil, where it was not kept for one user, or the mailbox has it no more.
    private func isRead(_ message: SentMessage, _ time: Timestamp) throws(StoreError) -> Bool? {
        guard let recipient = message.recipient, let id = message.keptID,
            let kept = try store.notification(id, owner: recipient, now: time), kept.token == message.id
        else { return nil }
        return kept.isRead
    }

    /// What the hub says now. What it does not know, yet or any more, is as it was when the message was sent.
    private func presentOutcomes(
        of message: SentMessage, _ request: UserRequest
    ) -> [MessageTimeline.PlatformOutcome] {
        let asked = message.outcomes.compactMap(\.notificationID).filter { NotificationID($0) != nil }
        var details: [String: Result<NotificationDetails?, HubError>] = [:]
        for (id, answer) in zip(asked, notifications.hub.tracking(request.id).details(of: asked)) { details[id] = answer }
        return message.outcomes.map { outcome in
            let known = MessageTimeline.PlatformOutcome(
                platform: outcome.platform, notificationID: outcome.notificationID, state: outcome.state)
            switch outcome.notificationID.flatMap({ details[$0] }) {
            case .success(let details?): return known.updated(by: details)
            case .failure(let error):
                logger.warning("hub: \(error)", metadata: ["request": "\(request.id)"])
                var unknown = known
                unknown.state = "Unknown"
                return unknown
            case .success(nil), nil: return known
            }
        }
    }
}

extension MessageTimeline.PlatformOutcome {
    /// The counts of all platforms together, of which a template's send has several.
    fileprivate func updated(by details: NotificationDetails) -> Self {
        let counts = details.outcomes.flatMap(\.counts).map { SendOutcomeDetails.Count($0.name, $0.count) }
        return Self(
            platform: platform, notificationID: notificationID, state: details.state,
            waitsForCredential: details.waitReason != nil,
            counts: SendOutcomeDetails.PlatformCounts(platform: platform, counts: counts).counts)
    }
}
