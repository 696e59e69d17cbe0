// SPDX-License-Identifier: Apache-2.0
import JSON
import NotificationHub
import Store
import Text

/// Something for one receiver, and how often it was tried.
struct WebhookEvent: Sendable {
    /// How long it may wait in all, in seconds: for a message's time, a day for its outcome, and then all tries.
    static let lifetime: Int64 = HubNotification.maximumDelay + 5 * 86_400

    /// Under which the receiver knows it, the same for all tries of the same thing.
    let id: String
    /// The receiver: `WebhookEndpoint.name`.
    let endpoint: String
    /// The owner of the message or device that it is about, who has a share of the events that may wait; nil: it is not known.
    let source: String?
    /// The message whose outcome is waited for.
    let message: String?
    /// What is sent; nil: it is not known before the outcome is.
    var body: String?
    let createdAt: Timestamp
    /// Its place among those of one second, by `CreationSequence`; 0: earlier versions have made it.
    let sequence: Int64
    /// How often it was tried, or the outcome looked for.
    var attempts = 0
    /// Not before this.
    var dueAt: Timestamp

    /// What is due first comes first, and of that what was made first.
    var place: (Timestamp, Timestamp, Int64, String) { (dueAt, createdAt, sequence, id) }

    func isOlder(than other: WebhookEvent) -> Bool {
        (createdAt, sequence, id) < (other.createdAt, other.sequence, other.id)
    }

    /// - Parameter message: whose outcome is waited for, where there is no body yet.
    init(
        id: String, endpoint: String, source: String?, message: String? = nil, body: String?, now: Timestamp,
        sequence: Int64 = 0
    ) {
        (self.id, self.endpoint, self.source, self.message, self.body) = (id, endpoint, source, message, body)
        (createdAt, dueAt, self.sequence) = (now, now, sequence)
    }

    /// As the store keeps it.
    var stored: HubMessage {
        var members = [
            JSONValue.Member("endpoint", .string(endpoint)), JSONValue.Member("attempts", .number(String(attempts))),
            JSONValue.Member("dueAt", .string(dueAt.text)), JSONValue.Member("sequence", .number(String(sequence))),
        ]
        if let source { members.append(JSONValue.Member("source", .string(source))) }
        if let message { members.append(JSONValue.Member("message", .string(message))) }
        if let body { members.append(JSONValue.Member("body", .string(body))) }
        return HubMessage(
            id: id, owner: source, document: .object(members), createdAt: createdAt,
            expiresAt: createdAt + Self.lifetime)
    }

    /// Nil for what is no such event.
    init?(_ stored: HubMessage) {
        let json = stored.document
        guard let endpoint = json["endpoint"]?.string, let attempts = json["attempts"]?.integer,
            (0..<Int.max).contains(attempts),
            let dueAt = json["dueAt"]?.string.flatMap({ Timestamp(text: $0) })
        else { return nil }
        (id, self.endpoint, message) = (stored.id, endpoint, json["message"]?.string)
        source = json["source"]?.string
        sequence = json["sequence"]?.integer.map { Int64($0) } ?? 0
        (body, createdAt, self.attempts, self.dueAt) = (json["body"]?.string, stored.createdAt, attempts, dueAt)
    }
}

/// The types of events.
package enum WebhookKind: String, CaseIterable, Sendable {
    case messageCompleted = "message.completed"
    case messageRead = "message.read"
    case messageOpened = "message.opened"
    case deviceRemoved = "device.removed"
}

/// Counts events by their outcome.
package protocol WebhookCounter: Sendable {
    /// Must not block.
    func count(_ result: WebhookResult, by amount: Int)
}

/// What became of an event, or of one try.
package enum WebhookResult: String, CaseIterable, Sendable {
    case delivered
    /// One try of several.
    case failed
    /// It is given up, or there was no room for it.
    case dropped
}

extension WebhookCounter {
    func count(_ result: WebhookResult) { count(result, by: 1) }
}
