// SPDX-License-Identifier: Apache-2.0
import JSON
package import NotificationHub
package import Store
package import Text

/// Tells receivers elsewhere what happens here. Events wait in the store until `WebhookWorker` has delivered it.
///
/// No event holds a title, a text or a device's handle. One that cannot be kept is dropped: no call fails for it.
package struct Webhooks: Sendable {
    let endpoints: [WebhookEndpoint]
    let queue: any WaitingStore
    let counter: any WebhookCounter
    let now: @Sendable () -> Timestamp
    private let sequence = CreationSequence()
    /// Hears what the operator should know.
    let report: @Sendable (String) -> Void

    package init(
        _ endpoints: [WebhookEndpoint], queue: any WaitingStore, counter: any WebhookCounter,
        now: @escaping @Sendable () -> Timestamp, report: @escaping @Sendable (String) -> Void
    ) {
        (self.endpoints, self.queue, self.counter) = (endpoints, queue, counter)
        (self.now, self.report) = (now, report)
    }

    /// Whether a receiver wants that.
    package func tell(of kind: WebhookKind) -> Bool { endpoints.contains { $0.kinds.contains(kind) } }

    /// The recipient has read a message, for the first time.
    func tellReading(of message: SentMessage) {
        tell(.messageRead, [message.id], of: message.owner, data: { Self.write(message, to: &$0) })
    }

    /// One recipient has opened a message, for the first time.
    func tellOpening(of message: SentMessage, by opener: String) {
        tell(.messageOpened, [message.id, opener], of: message.owner, data: { Self.write(message, to: &$0) })
    }

    /// A push service has called a device gone, and its registration was removed.
    /// - Parameter owner: whose it was, where that is known.
    package func tellRemoval(of registration: String, platform: Platform, owner: String?) {
        tell(.deviceRemoved, [registration, String(now().seconds)], of: owner) { json in
            json.member("RegistrationId", registration)
            json.member("Platform", platform.rawValue)
            if let owner { json.member("User", User.name(ofOwner: owner)) }
        }
    }

    /// A message was handed to the hub; its outcome follows when it is final.
    func awaitOutcome(of message: SentMessage) {
        keep(.messageCompleted, [message.id], of: message.owner, message: message.id, body: nil)
    }

    private func tell(_ kind: WebhookKind, _ subject: [String], of source: String?, data: (inout JSONWriter) -> Void) {
        guard tell(of: kind) else { return }
        keep(kind, subject, of: source, message: nil, body: Self.body(kind, now(), data))
    }

    /// - Parameters:
    ///   - subject: what it is about: the same event has the same id.
    ///   - source: on whose account it is.
    private func keep(_ kind: WebhookKind, _ subject: [String], of source: String?, message: String?, body: String?) {
        let time = now()
        let events = endpoints.filter { $0.kinds.contains(kind) }.map { endpoint in
            WebhookEvent(
                id: "evt_" + WebhookEndpoint.hash([kind.rawValue, endpoint.name] + subject), endpoint: endpoint.name,
                source: source, message: message, body: body, now: time, sequence: sequence.next())
        }
        do throws(StoreError) {
            try queue.putWaiting(events.map(\.stored), in: .webhookEvents)
        } catch {
            counter.count(.dropped, by: events.count)
            report("webhooks: an event was not kept, and is not told: \(error)")
        }
    }

    /// As it crosses the wire.
    static func body(_ kind: WebhookKind, _ time: Timestamp, _ data: (inout JSONWriter) -> Void) -> String {
        JSONWriter.object { json in
            json.member("type", kind.rawValue)
            json.member("timestamp", time.text)
            json.member("data", data)
        }.text
    }

    /// What its sender knows of it. Who of several has read or opened it is theirs alone.
    private static func write(_ message: SentMessage, to json: inout JSONWriter) {
        json.member("MessageId", message.id)
        json.member("Sender", User.name(ofOwner: message.owner))
        json.member("To", message.to)
        json.member("SentAt", message.sentAt.text)
    }
}
