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
        /// Devices of one platform, which need not be registered.
        case devices([RegistrationDescription])
    }

    /// A device that was tried, and whose service said that it may be tried again.
    struct Retry: Equatable {
        var registrationID: String
        /// As `LaneName.platform`.
        var platform: Platform
        /// How often it was tried.
        var attempts: Int
        /// Not before this; nil, as after a restart: at once.
        var dueAt: ContinuousClock.Instant?
        /// The service that kept it waiting; nil after a restart.
        var service: String?
        /// The lane that it is in; nil after a restart.
        var lane: LaneName?
    }

    let notification: HubNotification
    let audience: Audience
    /// It may not be delivered before this moment; nil: it may be at once.
    var notBefore: Timestamp? { record.notBefore.map { Timestamp(seconds: $0) } }
    /// What became of it so far.
    var record: MessageRecord
    /// By lane: targets up to this registration id were handed over or are among the retries.
    var cursors: [LaneName: String] = [:]
    var retries: [Retry] = []
    /// Targets that were handed over and of which nothing was heard yet, by `LaneName.platform`; no zeroes.
    var inFlight: [Platform: Int] = [:]
    /// Why the message waits for a credential or for a trusted connection, for the operator; nil: it does not. Every process on
    /// the store can tell.
    var waitReason: String?
    /// What the push service said that keeps a device waiting, for the operator; nil: none waits for a service.
    var serviceReason: String?

    /// As the store keeps it once it is done.
    var finished: HubMessage { record.stored(sender: notification.sender) }

    init(_ notification: HubNotification, to audience: Audience, record: MessageRecord) {
        self.notification = notification
        self.audience = audience
        self.record = record
    }

}

extension QueuedMessage {
    /// A message that was due for as long and was not delivered is dropped; the hub gives up much sooner.
    static let keptSeconds: Int64 = 24 * 60 * 60

    /// About what it takes in the store, in bytes: more with each device that waits.
    var size: Int {
        let fixed = 512 + (record.tags?.utf8.count ?? 0) + notification.body.count / 3 * 4
        let direct = if case .devices(let devices) = audience { devices.count } else { 0 }
        return fixed + (retries.count + record.devices.count) * 64 + direct * 256
    }

    /// As the store keeps it.
    var stored: HubMessage {
        var members = [
            JSONValue.Member("record", record.document),
            JSONValue.Member("contentType", .string(notification.contentType)),
            JSONValue.Member("body", .string(Base64.standard.encode(notification.body))),
            JSONValue.Member("underWay", underWay),
        ]
        if !notification.headers.isEmpty {
            // Pairs, because a header may come twice and a JSON object's member may not.
            let headers = notification.headers.map { JSONValue.array([.string($0.name), .string($0.value)]) }
            members.append(JSONValue.Member("headers", .array(headers)))
        }
        if case .devices(let devices) = audience {
            let json = devices.map(HubRegistration.json)
            // As earlier versions write and read it.
            let member = json.count == 1 ? json.first.map { JSONValue.Member("device", $0) } : nil
            members.append(member ?? JSONValue.Member("devices", .array(json)))
        }
        if let waitReason { members.append(JSONValue.Member("waitReason", .string(waitReason))) }
        if let serviceReason { members.append(JSONValue.Member("serviceReason", .string(serviceReason))) }
        let through = cursors.map { (name: $0.key.text(notification.format), id: $0.value) }.sorted {
            $0.name < $1.name
        }
        if let first = through.first, first.name.isEmpty {
            members.append(JSONValue.Member("through", .string(first.id)))
        }
        let apps = through.filter { !$0.name.isEmpty }.map { JSONValue.Member($0.name, .string($0.id)) }
        if !apps.isEmpty { members.append(JSONValue.Member("throughApps", .object(apps))) }
        if !retries.isEmpty { members.append(JSONValue.Member("retries", .array(retries.map(json)))) }
        return HubMessage(
            id: record.id, owner: notification.sender, document: .object(members),
            createdAt: Timestamp(seconds: record.enqueuedAt), notBefore: notBefore,
            expiresAt: Timestamp(seconds: record.dueAt) + Self.keptSeconds)
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
        var notification = HubNotification(format: format, body: body, contentType: contentType, headers: headers)
        notification.sender = message.owner
        self.notification = notification
        audience = try Self.audience(of: message, record)
        let through = [JSONValue.Member("", json["through"] ?? .null)] + (json["throughApps"]?.members ?? [])
        for member in through {
            if let name = LaneName(member.name, format) { cursors[name] = member.value.string }
        }
        retries = (json["retries"]?.array ?? []).compactMap { Self.retry($0, format) }
        waitReason = json["waitReason"]?.string
        serviceReason = json["serviceReason"]?.string
        guard let inFlight = Self.inFlight(json["underWay"], format) else { throw damaged }
        self.inFlight = inFlight
    }

    private static func audience(of message: HubMessage, _ record: MessageRecord) throws(StoreError) -> Audience {
        if let devices = message.document["devices"]?.array ?? message.document["device"].map({ [$0] }) {
            var decoded: [RegistrationDescription] = []
            for device in devices {
                let asRegistration = HubRegistration(
                    id: message.id, channel: "", tags: [], description: device, updatedAt: message.createdAt)
                decoded.append(try asRegistration.decoded())
            }
            return .devices(decoded)
        }
        guard let text = record.tags else { return .tags(nil) }
        do throws(TagExpressionError) {
            return .tags(try TagExpression(parsing: text))
        } catch {
            throw .damaged(detail: "queued hub message \(message.id): tags")
        }
    }
}

/// What differs between a native notification, of which all targets are of one platform, and a template notification.
extension QueuedMessage {
    private var underWay: JSONValue {
        if case .native = notification.format { return .number(String(inFlight.values.reduce(0, +))) }
        let counts = inFlight.sorted { $0.key.rawValue < $1.key.rawValue }
        return .object(counts.map { JSONValue.Member($0.key.rawValue, .number(String($0.value))) })
    }

    /// Nil when it is not what `underWay` has written.
    private static func inFlight(_ json: JSONValue?, _ format: HubNotification.Format) -> [Platform: Int]? {
        var found: [Platform: Int] = [:]
        func add(_ platform: Platform?, _ count: Int?) -> Bool {
            guard let platform, let count, MessageRecord.possibleCounts.contains(count) else { return false }
            if count > 0 { found[platform] = count }
            return true
        }
        let isRight =
            switch format {
            case .native(let platform): add(platform, json?.integer ?? 0)
            case .template: (json?.members ?? []).allSatisfy { add(Platform(rawValue: $0.name), $0.value.integer) }
            }
        return isRight ? found : nil
    }

    private func json(_ retry: Retry) -> JSONValue {
        let pair: [JSONValue] = [.string(retry.registrationID), .number(String(retry.attempts))]
        if case .native = notification.format { return .array(pair) }
        return .array(pair + [.string(retry.platform.rawValue)])
    }

    private static func retry(_ json: JSONValue, _ format: HubNotification.Format) -> Retry? {
        var parts = (json.array ?? [])[...]
        guard let id = parts.popFirst()?.string, let attempts = parts.popFirst()?.integer,
            MessageRecord.possibleCounts.contains(attempts)
        else { return nil }
        let named = parts.popFirst()?.string.flatMap(Platform.init(rawValue:))
        let platform: Platform? = if case .native(let platform) = format { platform } else { named }
        return platform.map { Retry(registrationID: id, platform: $0, attempts: attempts) }
    }
}

extension HubNotification {
    /// For messages to the operator.
    /// - Parameter sender: as `sender`.
    static func name(ofSender sender: String?) -> String {
        guard let sender else { return "an operator's command" }
        return policy(ofSender: sender).map { "the key \($0)" } ?? User.name(ofOwner: sender)
    }
}
