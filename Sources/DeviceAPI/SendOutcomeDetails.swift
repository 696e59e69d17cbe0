// SPDX-License-Identifier: Apache-2.0
public import HTTP
internal import JSON

/// What became of a send that the hub had taken, device by device in numbers: the answer of
/// `GET /api/notifications/outcomes/{NotificationId}`.
public struct SendOutcomeDetails: Equatable, Sendable {
    /// The hub's name for this send.
    public var notificationID: String
    /// `Enqueued`, `Processing`, `Completed`, `Abandoned`, `NoTargetFound`, `Cancelled`, or what a newer hub says.
    public var state: String
    /// One for each platform that the hub tells of.
    public var outcomes: [PlatformCounts]
    /// Whether it waits because the push service does not accept the backend's credential, or the backend has none now.
    public var waitsForCredential = false

    /// The fates of a send on one platform.
    public struct PlatformCounts: Equatable, Sendable {
        /// `apns`, `fcm`, `wns`, `browser` and others.
        public var platform: String
        /// In the hub's order, each name once.
        public private(set) var counts: [Count]

        /// Counts of the same name are added up: as members of one object they would be unreadable.
        public init(platform: String, counts: [Count]) {
            self.platform = platform
            self.counts = []
            for count in counts {
                if let index = self.counts.firstIndex(where: { $0.name == count.name }) {
                    let (sum, overflow) = self.counts[index].devices.addingReportingOverflow(count.devices)
                    self.counts[index].devices = overflow ? .max : sum
                } else {
                    self.counts.append(count)
                }
            }
        }
    }

    /// How many devices met one fate.
    public struct Count: Equatable, Sendable {
        /// `Success`, `ExpiredChannel`, `Skipped` and others.
        public var name: String
        /// 0 or more.
        public var devices: Int

        /// - Parameter devices: 0 or more.
        public init(_ name: String, _ devices: Int) {
            self.name = name
            self.devices = devices
        }
    }

    /// What the hub says of a send.
    public init(notificationID: String, state: String, outcomes: [PlatformCounts]) {
        self.notificationID = notificationID
        self.state = state
        self.outcomes = outcomes
    }

    /// Whether nothing more will happen, so that asking again is of no use.
    public var isFinal: Bool { ["Completed", "Abandoned", "NoTargetFound", "Cancelled"].contains(state) }

    /// As it crosses the wire.
    public var json: [UInt8] {
        JSONWriter.object { json in
            json.member("NotificationId", notificationID)
            json.member("State", state)
            if waitsForCredential { json.member("WaitsFor", Self.credential) }
            json.member("Outcomes", outcomes) { $0.writeMembers(to: &$1) }
        }.bytes
    }

    /// What `WaitsFor` says.
    static let credential = "credential"

    /// - Throws: `Problem` 502, when the answer does not tell what became of a send.
    public init(_ response: Response) throws(Problem) {
        let document = try? JSONValue(parsing: response.body)
        let list = document?["Outcomes"]?.array
        let outcomes = list?.compactMap(PlatformCounts.init(element:))
        guard let id = document?["NotificationId"]?.string, let state = document?["State"]?.string, let outcomes,
            outcomes.count == list?.count
        else { throw Problem.malformedAnswer("The answer does not tell what became of a send.") }
        self.init(notificationID: id, state: state, outcomes: outcomes)
        waitsForCredential = document?["WaitsFor"]?.string == Self.credential
    }
}

extension SendOutcomeDetails.PlatformCounts {
    fileprivate func writeMembers(to json: inout JSONWriter) {
        json.member("Platform", platform)
        json.member("Counts") { json in counts.forEach { json.member($0.name, $0.devices) } }
    }

    init?(element: JSONValue) {
        guard let platform = element["Platform"]?.string, let members = element["Counts"]?.members else { return nil }
        let counts = members.compactMap { member in
            member.value.integer.flatMap { $0 < 0 ? nil : SendOutcomeDetails.Count(member.name, $0) }
        }
        guard counts.count == members.count else { return nil }
        self.init(platform: platform, counts: counts)
    }
}
