// SPDX-License-Identifier: Apache-2.0
import JSON
import NotificationHub
import Store

/// What the hub remembers of a send: to whom, when, and what became of it. Never the text, which is the devices' alone.
struct MessageRecord {
    var id: String
    /// As `ServiceBusNotification-Format` names it.
    var format: String
    /// The tag expression; nil for a broadcast and for a direct send.
    var tags: String?
    /// Seconds since 1970. The hub begins and ends a send before it answers, so this is the time of all three.
    var enqueuedAt: Int64
    /// How many targets there were.
    private(set) var targets = 0
    /// The first of their registration ids.
    private(set) var registrationIDs: [String] = []
    /// How many targets met which fate, per platform.
    private(set) var outcomes: [Platform: [String: Int]] = [:]

    /// Registration ids that are remembered of one send.
    static let maximumRegistrationIDs = 100
    /// How long a send is remembered, in seconds.
    static let retentionSeconds: Int64 = 7 * 24 * 60 * 60

    /// - Parameter now: seconds since 1970.
    init(id: String, format: HubNotification.Format, tags: TagExpression?, now: Int64) {
        self.id = id
        self.format = format.header
        self.tags = tags?.description
        enqueuedAt = now
    }

    mutating func add(_ target: Target, _ outcome: PushOutcome) {
        targets += 1
        outcomes[target.description.platform, default: [:]][outcome.rawValue, default: 0] += 1
        if let id = target.registrationID, registrationIDs.count < Self.maximumRegistrationIDs {
            registrationIDs.append(id)
        }
    }

    /// `NoTargetFound`; otherwise `Abandoned`, for as long as no outcome is a success nothing was delivered to anybody.
    /// A name that every official client knows.
    var state: String { targets == 0 ? "NoTargetFound" : "Abandoned" }

    /// What is answered to `GET /{hub}/messages/{id}`.
    /// - Parameter location: `sb://…`.
    func details(location: String) -> NotificationDetails {
        let time = HubTime(enqueuedAt).iso8601
        return NotificationDetails(
            id: id, location: location, state: state, enqueueTime: time, startTime: time, endTime: time, tags: tags,
            targetPlatforms: platforms.isEmpty ? nil : platforms.map(\.formatHeader).joined(separator: ","),
            outcomes: platforms.map { platform in
                let counts = (outcomes[platform] ?? [:]).sorted { $0.key < $1.key }
                return PlatformOutcomes(platform, counts.map { PlatformOutcomes.Count($0.key, $0.value) })
            })
    }

    private var platforms: [Platform] { Platform.allCases.filter { outcomes[$0] != nil } }
}

extension MessageRecord {
    /// As the store keeps it.
    var stored: HubMessage {
        var members = [JSONValue.Member("format", .string(format)), JSONValue.Member("state", .string(state))]
        if let tags { members.append(JSONValue.Member("tags", .string(tags))) }
        members += [
            JSONValue.Member("enqueuedAt", .number(String(enqueuedAt))),
            JSONValue.Member("targets", .number(String(targets))),
            JSONValue.Member("registrations", .array(registrationIDs.map { .string($0) })),
            JSONValue.Member("outcomes", .object(platforms.map(outcomeMember))),
        ]
        let created = Timestamp(seconds: enqueuedAt)
        return HubMessage(
            id: id, document: .object(members), createdAt: created, expiresAt: created + Self.retentionSeconds)
    }

    private func outcomeMember(_ platform: Platform) -> JSONValue.Member {
        let counts = (outcomes[platform] ?? [:]).sorted { $0.key < $1.key }
        return JSONValue.Member(
            platform.rawValue, .object(counts.map { JSONValue.Member($0.key, .number(String($0.value))) }))
    }

    /// - Throws: `StoreError.damaged`, when it is not what this hub writes.
    init(_ message: HubMessage) throws(StoreError) {
        let json = message.document
        guard let format = json["format"]?.string, let targets = json["targets"]?.integer,
            let enqueued = json["enqueuedAt"]?.integer
        else { throw .damaged(detail: "hub message \(message.id)") }
        id = message.id
        self.format = format
        tags = json["tags"]?.string
        enqueuedAt = Int64(enqueued)
        self.targets = targets
        registrationIDs = (json["registrations"]?.array ?? []).compactMap(\.string)
        for member in json["outcomes"]?.members ?? [] {
            guard let platform = Platform(rawValue: member.name) else { continue }
            for count in member.value.members ?? [] {
                outcomes[platform, default: [:]][count.name] = count.value.integer ?? 0
            }
        }
    }
}
