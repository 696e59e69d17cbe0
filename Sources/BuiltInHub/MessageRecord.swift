// SPDX-License-Identifier: Apache-2.0
import JSON
import NotificationHub
internal import Push
import Store
import Text

/// What the hub remembers of a send: to whom, when, and what became of it. Never the text, which is the devices' alone.
struct MessageRecord {
    var id: String
    /// As `ServiceBusNotification-Format` names it.
    var format: String
    /// The tag expression; nil for a broadcast and for a direct send.
    var tags: String?
    /// Whose devices it reaches.
    let namespaces: [HubNamespace]
    /// The hub that took it: the backend's, or the one for others; nil if a version with one namespace took it.
    let origin: HubNamespace?
    /// When the hub took the message, began to deliver it, and was done with every target; seconds since 1970.
    let enqueuedAt: Int64
    /// The message may not be delivered before this, in seconds since 1970; nil: it may be at once.
    var notBefore: Int64?
    var startedAt: Int64?
    var endedAt: Int64?
    /// How many targets there were.
    private(set) var targets = 0
    /// How many targets met which fate, per platform.
    private(set) var outcomes: [Platform: [PushOutcome: Int]] = [:]
    /// The fates of the targets that are registered, as they became known; empty where there are more than `maximumDevices`.
    private(set) var devices: [DeviceOutcome] = []

    /// A user's devices are named, and the record of a message to thousands does not grow with them.
    private static let maximumDevices = 32
    /// How long a send is remembered, in seconds.
    static let retentionSeconds: Int64 = 7 * 24 * 60 * 60

    /// - Parameters:
    ///   - now: seconds since 1970.
    ///   - notBefore: later than that; nil: the message may be delivered at once.
    init(
        id: String, format: HubNotification.Format, tags: TagExpression?, namespaces: [HubNamespace] = [.backend],
        origin: HubNamespace = .backend, now: Int64, notBefore: Int64? = nil
    ) {
        self.id = id
        self.format = format.header
        self.tags = tags?.description
        (self.namespaces, self.origin) = (namespaces, origin)
        enqueuedAt = now
        self.notBefore = notBefore
    }

    /// From when on the message may be delivered, in seconds since 1970. All lifetimes count from there.
    var dueAt: Int64 { notBefore ?? enqueuedAt }

    mutating func add(_ target: Target, _ outcome: PushOutcome) {
        add(outcome, platform: target.description.platform)
        // The backend's users have no device elsewhere.
        guard let id = target.registrationID, HubNamespace(of: id) == .backend, targets <= Self.maximumDevices else {
            return
        }
        devices.append(DeviceOutcome(registrationID: id, name: outcome.rawValue))
    }

    mutating func add(_ outcome: PushOutcome, platform: Platform, count: Int = 1) {
        guard count > 0 else { return }
        targets += count
        if targets > Self.maximumDevices { devices = [] }
        outcomes[platform, default: [:]][outcome, default: 0] += count
    }

    /// Fates of targets of whom no push service was asked.
    private static let unasked: Set<PushOutcome> = [
        .skipped, .abandoned, .wrongChannel, .invalidNotificationSize, .invalidNotificationFormat,
    ]

    /// One of the names that every official client knows. `Completed` says that the push services were asked, not what
    /// they said; `Abandoned`, that for no target one was.
    var state: String {
        guard endedAt != nil else { return startedAt == nil ? "Enqueued" : "Processing" }
        guard targets > 0 else { return NotificationDetails.noTargetFound }
        return outcomes.values.allSatisfy { Self.unasked.isSuperset(of: $0.keys) } ? "Abandoned" : "Completed"
    }

    /// What those are told who ask what became of the message.
    var details: NotificationDetails {
        var details = NotificationDetails(
            id: id, state: state, enqueueTime: HubTime(enqueuedAt).iso8601,
            startTime: startedAt.map { HubTime($0).iso8601 }, endTime: endedAt.map { HubTime($0).iso8601 }, tags: tags,
            targetPlatforms: platforms.isEmpty ? nil : platforms.map(\.formatHeader).joined(separator: ","),
            outcomes: platforms.map { platform in
                PlatformOutcomes(platform, counts(platform).map { PlatformOutcomes.Count($0.name, $0.count) })
            })
        details.devices = devices
        return details
    }

    private func counts(_ platform: Platform) -> [(name: String, count: Int)] {
        (outcomes[platform] ?? [:]).map { ($0.key.rawValue, $0.value) }.sorted { $0.name < $1.name }
    }

    private var platforms: [Platform] { Platform.allCases.filter { outcomes[$0] != nil } }
}

extension MessageRecord {
    /// As the store keeps it once it is done.
    /// - Parameter sender: the owner in whose share it is remembered; nil: in no user's.
    func stored(sender: String?) -> HubMessage {
        HubMessage(
            id: id, owner: sender, document: document, createdAt: Timestamp(seconds: enqueuedAt),
            notBefore: notBefore.map { Timestamp(seconds: $0) },
            expiresAt: Timestamp(seconds: dueAt) + Self.retentionSeconds)
    }

    var document: JSONValue {
        var members = [JSONValue.Member("format", .string(format)), JSONValue.Member("state", .string(state))]
        if let tags { members.append(JSONValue.Member("tags", .string(tags))) }
        if let namespace = namespaces.first, namespaces.count == 1 {
            members.append(JSONValue.Member("namespace", .string(namespace.rawValue)))
        } else if let origin {
            members.append(JSONValue.Member("origin", .string(origin.rawValue)))
        }
        let times = [
            ("enqueuedAt", enqueuedAt), ("notBefore", notBefore), ("startedAt", startedAt), ("endedAt", endedAt),
        ]
        for (name, time) in times {
            if let time { members.append(JSONValue.Member(name, .number(String(time)))) }
        }
        members += [
            JSONValue.Member("targets", .number(String(targets))),
            JSONValue.Member("outcomes", .object(platforms.map(outcomeMember))),
        ]
        if !devices.isEmpty {
            let pairs = devices.map { JSONValue.array([.string($0.registrationID), .string($0.name)]) }
            members.append(JSONValue.Member("devices", .array(pairs)))
        }
        return .object(members)
    }

    private func outcomeMember(_ platform: Platform) -> JSONValue.Member {
        JSONValue.Member(
            platform.rawValue,
            .object(counts(platform).map { JSONValue.Member($0.name, .number(String($0.count))) }))
    }

    /// What a count in the store may be; the sum of two is no trap.
    static let possibleCounts = 0...Int(Int32.max)
    /// What a time in the store may be, in seconds: from 1970 to the end of the year 9999.
    private static let possibleTimes = 0...253_402_300_799

    /// - Parameter json: what `document` wrote.
    /// - Throws: `StoreError.damaged`, when it is not what this hub writes.
    init(id: String, document json: JSONValue) throws(StoreError) {
        let damaged = StoreError.damaged(detail: "hub message \(id)")
        guard let format = json["format"]?.string, let targets = json["targets"]?.integer,
            let enqueued = json["enqueuedAt"]?.integer, Self.possibleCounts.contains(targets),
            Self.possibleTimes.contains(enqueued)
        else { throw damaged }
        self.id = id
        self.format = format
        tags = json["tags"]?.string
        // Of both also where a version has written it that knew one.
        let namespace = json["namespace"]?.string.flatMap(HubNamespace.init(rawValue:))
        namespaces = namespace.map { [$0] } ?? HubNamespace.allCases
        origin = namespace ?? json["origin"]?.string.flatMap(HubNamespace.init(rawValue:))
        enqueuedAt = Int64(enqueued)
        notBefore = json["notBefore"]?.integer.flatMap { Self.possibleTimes.contains($0) ? Int64($0) : nil }
        startedAt = json["startedAt"]?.integer.map { Int64($0) }
        endedAt = json["endedAt"]?.integer.map { Int64($0) }
        self.targets = targets
        for member in json["outcomes"]?.members ?? [] {
            guard let platform = Platform(rawValue: member.name) else { continue }
            for count in member.value.members ?? [] {
                guard let number = count.value.integer, Self.possibleCounts.contains(number) else { throw damaged }
                outcomes[platform, default: [:]][PushOutcome(rawValue: count.name)] = number
            }
        }
        devices = (json["devices"]?.array ?? []).compactMap { pair in
            guard let id = pair.array?.first?.string, let name = pair.array?.last?.string else { return nil }
            return DeviceOutcome(registrationID: id, name: name)
        }
    }
}

/// Names of messages: 32 hexadecimal digits, the time, and two numbers, as the older generation of Azure's servers makes them.
///
/// The first number is 1, or the time before which the message is not delivered. A store keeps what waits by that time, so
/// without it a message could only be found by reading all that waits.
enum MessageID {
    private static let atOnce = "1"

    /// - Parameters:
    ///   - now: seconds since 1970.
    ///   - notBefore: as `MessageRecord` has it.
    static func make(now: Int64, notBefore: Int64? = nil) -> String {
        let digits = String(decoding: TrackingID.random().utf8.filter { $0 != UInt8(ascii: "-") }, as: UTF8.self)
        return "\(digits)-\(HubTime(now).compact)-\(notBefore.map { String($0) } ?? atOnce)-01"
    }

    /// The time before which the message of that id is not delivered; nil: none, or this is no such id.
    static func notBefore(in id: String) -> Timestamp? {
        let parts = id.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[2] != atOnce, let seconds = Int64(parts[2]) else { return nil }
        return Timestamp(seconds: seconds)
    }
}
