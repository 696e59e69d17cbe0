// SPDX-License-Identifier: Apache-2.0
package import DeviceAPI
import HTTP
import HTTPTypes
import Logging
package import NotificationHub
package import Store
package import Text

/// `GET /api/notifications/{MessageId}/timeline`
extension NotificationsController {
    /// What became of a message object on all platforms, for its sender. Another user's, one that is forgotten and one that never
    /// was are 404, all alike.
    func timeline(_ request: UserRequest, _ id: String) throws -> Response {
        let (owner, time) = (request.user.owner, now())
        guard NotificationNames.isToken(id), let message = try store.sentMessage(id, owner: owner, now: time) else {
            throw Problem(.noSuchMessage, "You have sent no such message.")
        }
        let answers = message.answers { notifications.hub.details(of: $0, for: request, logger) }
        let timeline = try MessageTimeline(message, answers, in: store, now: time)
        return .unstoredJSON(timeline.json)
    }
}

extension Hub {
    /// What it says of messages now, by its names of them, in that order. Its errors are logged.
    func details(of ids: [String], for request: UserRequest, _ logger: Logger)
        -> [Result<NotificationDetails?, HubError>]
    {
        let answers = tracking(request.id).details(of: ids)
        for case .failure(let error) in answers {
            logger.warning("hub: \(error)", metadata: ["request": "\(request.id)"])
        }
        return answers
    }
}

/// What the hub says of messages, by its names of them.
package typealias HubAnswers = [String: Result<NotificationDetails?, HubError>]

extension SentMessage {
    /// What the hub says of it.
    /// - Parameter ask: the hub, about several messages, each in its place.
    package func answers(_ ask: ([String]) -> [Result<NotificationDetails?, HubError>]) -> HubAnswers {
        let ids = notificationIDs
        return Dictionary(zip(ids, ask(ids))) { $1 }
    }

    /// By which the hub can be asked for it.
    var notificationIDs: [String] { outcomes.compactMap(\.notificationID).filter { NotificationID($0) != nil } }

    /// What became of it on each platform.
    /// - Parameter answers: what the hub says now. What it does not know, yet or any more, is as it was when the message was sent.
    func platformOutcomes(_ answers: HubAnswers) -> [MessageTimeline.PlatformOutcome] {
        outcomes.map { outcome in
            MessageTimeline.PlatformOutcome(outcome, outcome.notificationID.flatMap { answers[$0] })
        }
    }
}

extension MessageTimeline {
    /// - Parameter answers: what the hub says now.
    package init(
        _ message: SentMessage, _ answers: HubAnswers, in store: any StateStore, now: Timestamp
    ) throws(StoreError) {
        self.init(
            messageID: message.id, to: message.to, sentAt: message.sentAt.text, isSecure: message.isSecure,
            isKept: message.keptID != nil, isRead: try Self.isRead(message, in: store, now),
            opened: try store.openings(ofMessage: message.id, now: now),
            outcomes: message.platformOutcomes(answers))
    }

    /// Nil, where it was not kept for one user, or the mailbox has it no more.
    private static func isRead(
        _ message: SentMessage, in store: any StateStore, _ now: Timestamp
    ) throws(StoreError) -> Bool? {
        guard let recipient = message.recipient, let id = message.keptID,
            let kept = try store.notification(id, owner: recipient, now: now), kept.token == message.id
        else { return nil }
        return kept.isRead
    }
}

extension MessageTimeline.PlatformOutcome {
    /// - Parameter answer: the hub's; nil: it was not asked. A template's send has counts of several platforms, which are added up.
    fileprivate init(_ outcome: SentMessage.PlatformOutcome, _ answer: Result<NotificationDetails?, HubError>?) {
        self.init(platform: outcome.platform, notificationID: outcome.notificationID, state: outcome.state)
        switch answer {
        case .success(let details?):
            state = details.state
            waitsForCredential = details.waitReason != nil
            let all = details.outcomes.flatMap(\.counts).map { SendOutcomeDetails.Count($0.name, $0.count) }
            counts = SendOutcomeDetails.PlatformCounts(platform: platform, counts: all).counts
        case .failure: state = "Unknown"
        case .success(nil), nil: break
        }
    }
}
