// SPDX-License-Identifier: Apache-2.0
import JSON
import NotificationHub
import Store
import Text

/// A message that waits to be delivered, and how far its delivery has come.
///
/// A device is written down as handed over before it is, so that the worker that goes on after a crash passes it over.
/// No device gets a message twice. For those whose push was under way at the crash the outcome is unknown.
struct QueuedMessage {
    enum Audience {
        /// The devices that the expression names; nil: all of the format.
        case tags(TagExpression?)
        /// One device, which need not be registered.
        case device(RegistrationDescription)
    }

    /// A device that was tried, and whose service said that it may be tried again.
    struct Retry: Equatable {
        var registrationID: String
        /// How often it was tried.
        var attempts: Int
        /// Not before this, in seconds since 1970. After a restart: at once.
        var dueAt: Int64
        /// The service that kept it waiting; nil after a restart.
        var service: String?
        /// The lane that it is in (`DeliveryJob.Lane.app`); nil after a restart.
        var lane: String?
    }

    let notification: HubNotification
    let audience: Audience
    /// It may not be delivered before this moment; nil: it may be at once.
    var notBefore: Timestamp? { record.notBefore.map { Timestamp(seconds: $0) } }
    /// What became of it so far.
    var record: MessageRecord
    /// By lane (`DeliveryJob.Lane.app`): targets up to this registration id were handed over or are among the retries.
    var cursors: [String: String] = [:]
    var retries: [Retry] = []
    /// Targets that were handed over and of which nothing was heard yet.
    var inFlight = 0
    /// Why the message waits for a credential or for a trusted connection, for the operator; nil: it does not. Every process on
    /// the store can tell.
    var waitReason: String?

    init(_ notification: HubNotification, to audience: Audience, record: MessageRecord) {
        self.notification = notification
        self.audience = audience
        self.record = record
    }

    /// The registration id of a direct send's one device, which has none.
    static let unregistered = ""
}

extension QueuedMessage {
    /// A message that was due for as long and was not delivered is dropped; the hub gives up much sooner.
    static let keptSeconds: Int64 = 24 * 60 * 60

    /// As the store keeps it.
    var stored: HubMessage {
        var members = [
            JSONValue.Member("record", record.document),
            JSONValue.Member("contentType", .string(notification.contentType)),
            JSONValue.Member("body", .string(Base64.standard.encode(notification.body))),
            JSONValue.Member("underWay", .number(String(inFlight))),
        ]
        if !notification.headers.isEmpty {
            // Pairs, because a header may come twice and a JSON object's member may not.
            let headers = notification.headers.map { JSONValue.array([.string($0.name), .string($0.value)]) }
            members.append(JSONValue.Member("headers", .array(headers)))
        }
        if case .device(let description) = audience {
            members.append(JSONValue.Member("device", HubRegistration.json(description)))
        }
        if let waitReason { members.append(JSONValue.Member("waitReason", .string(waitReason))) }
        if let cursor = cursors[""] { members.append(JSONValue.Member("through", .string(cursor))) }
        let apps = cursors.filter { !$0.key.isEmpty }.sorted { $0.key < $1.key }
        if !apps.isEmpty {
            let ids = apps.map { JSONValue.Member($0.key, .string($0.value)) }
            members.append(JSONValue.Member("throughApps", .object(ids)))
        }
        if !retries.isEmpty {
            let pairs = retries.map { JSONValue.array([.string($0.registrationID), .number(String($0.attempts))]) }
            members.append(JSONValue.Member("retries", .array(pairs)))
        }
        return HubMessage(
            id: record.id, document: .object(members), createdAt: Timestamp(seconds: record.enqueuedAt),
            notBefore: notBefore, expiresAt: Timestamp(seconds: record.dueAt) + Self.keptSeconds)
    }

    /// - Throws: `StoreError.damaged`, when it is not what this hub writes.
    init(_ message: HubMessage) throws(StoreError) {
        let json = message.document
        let damaged = StoreError.damaged(detail: "queued hub message \(message.id)")
        guard let recordJSON = json["record"], let contentType = json["contentType"]?.string,
            let body = json["body"]?.string.flatMap({ Base64.standard.decode($0) })
        else { throw damaged }
        record = try MessageRecord(id: message.id, document: recordJSON)
        // The store keeps it by its own, and finds it by no other.
        record.notBefore = message.notBefore?.seconds
        guard let format = HubNotification.Format(header: record.format) else { throw damaged }
        var headers: [PushHeader] = []
        for pair in json["headers"]?.array ?? [] {
            guard let texts = pair.array, texts.count == 2, let name = texts.first?.string,
                let value = texts.last?.string
            else { throw damaged }
            headers.append(PushHeader(name, value))
        }
        notification = HubNotification(format: format, body: body, contentType: contentType, headers: headers)
        audience = try Self.audience(of: message, record)
        cursors[""] = json["through"]?.string
        for member in json["throughApps"]?.members ?? [] { cursors[member.name] = member.value.string }
        retries = (json["retries"]?.array ?? []).compactMap { pair in
            guard let id = pair.array?.first?.string, let attempts = pair.array?.last?.integer,
                MessageRecord.possibleCounts.contains(attempts)
            else { return nil }
            return Retry(registrationID: id, attempts: attempts, dueAt: .min)
        }
        inFlight = json["underWay"]?.integer ?? 0
        waitReason = json["waitReason"]?.string
        guard MessageRecord.possibleCounts.contains(inFlight) else { throw damaged }
    }

    private static func audience(of message: HubMessage, _ record: MessageRecord) throws(StoreError) -> Audience {
        if let device = message.document["device"] {
            let asRegistration = HubRegistration(
                id: message.id, channel: "", tags: [], description: device, updatedAt: message.createdAt)
            return .device(try asRegistration.decoded())
        }
        guard let text = record.tags else { return .tags(nil) }
        do throws(TagExpressionError) {
            return .tags(try TagExpression(parsing: text))
        } catch {
            throw .damaged(detail: "queued hub message \(message.id): tags")
        }
    }
}
