// SPDX-License-Identifier: Apache-2.0
public import HTTP
package import JSON

/// What became of a message object on all platforms, for its sender: the answer of
/// `GET /api/notifications/{MessageId}/timeline`.
public struct MessageTimeline: Equatable, Sendable {
    /// As the answer of the send has it.
    public var messageID: String
    /// The recipients, as `To` named them; a list as one text.
    public var to: String
    /// As RFC 3339 writes it, in UTC.
    public var sentAt: String
    /// Whether only its id has travelled.
    public var isSecure: Bool
    /// Whether the backend has kept it for its recipient.
    public var isKept: Bool
    /// Whether the recipient has read it, on whatever device; nil: that is not known, because it was not kept for one user, or is
    /// not there any more.
    public var isRead: Bool?
    /// How many of its recipients have opened it, as far as their apps tell.
    public var opened: Int
    /// One for each platform.
    public var outcomes: [PlatformOutcome]

    /// What became of the message on one platform.
    public struct PlatformOutcome: Equatable, Sendable {
        /// `apns`, `fcm`, `wns` or `browser`; `template` for devices of the older registration call, of any platform.
        public var platform: String
        /// The hub's name for it; nil: the hub has not taken it.
        public var notificationID: String?
        /// As in `SendOutcomeDetails`; what the send was answered, where the hub tells no more; `Unknown`, when it cannot be asked.
        public var state: String
        /// Whether it waits because the push service does not accept the backend's credential, or the backend has none now.
        public var waitsForCredential: Bool
        /// Device counts per delivery result, in the hub's order. Empty until the hub reports results.
        public var counts: [SendOutcomeDetails.Count]

        /// What is known of one platform.
        public init(
            platform: String, notificationID: String? = nil, state: String, waitsForCredential: Bool = false,
            counts: [SendOutcomeDetails.Count] = []
        ) {
            (self.platform, self.notificationID, self.state) = (platform, notificationID, state)
            (self.waitsForCredential, self.counts) = (waitsForCredential, counts)
        }
    }

    /// What is known of a message.
    public init(
        messageID: String, to: String, sentAt: String, isSecure: Bool, isKept: Bool, isRead: Bool? = nil,
        opened: Int = 0, outcomes: [PlatformOutcome]
    ) {
        (self.messageID, self.to, self.sentAt) = (messageID, to, sentAt)
        (self.isSecure, self.isKept, self.isRead) = (isSecure, isKept, isRead)
        (self.opened, self.outcomes) = (opened, outcomes)
    }

    /// As it crosses the wire.
    public var json: [UInt8] {
        JSONWriter.object { writeMembers(to: &$0) }.bytes
    }

    /// Writes its members into an object that is being written.
    package func writeMembers(to json: inout JSONWriter) {
        json.member("MessageId", messageID)
        json.member("To", to)
        json.member("SentAt", sentAt)
        json.member("Secure", isSecure)
        json.member("Kept", isKept)
        if let isRead { json.member("Read", isRead) }
        json.member("Opened", opened)
        json.member("Outcomes", outcomes) { $0.writeMembers(to: &$1) }
    }

    /// - Throws: `Problem` 502, when the answer does not tell what became of a message.
    public init(_ response: Response) throws(Problem) {
        let document = try? JSONValue(parsing: response.body)
        let list = document?["Outcomes"]?.array
        let outcomes = list?.compactMap(PlatformOutcome.init(element:))
        guard let id = document?["MessageId"]?.string, let to = document?["To"]?.string,
            let sentAt = document?["SentAt"]?.string, let isSecure = document?["Secure"]?.bool,
            let isKept = document?["Kept"]?.bool, let opened = document?["Opened"]?.integer, opened >= 0, let outcomes,
            outcomes.count == list?.count
        else { throw Problem.malformedAnswer("The answer does not tell what became of a message.") }
        self.init(
            messageID: id, to: to, sentAt: sentAt, isSecure: isSecure, isKept: isKept,
            isRead: document?["Read"]?.bool, opened: opened, outcomes: outcomes)
    }
}

extension MessageTimeline.PlatformOutcome {
    fileprivate func writeMembers(to json: inout JSONWriter) {
        json.member("Platform", platform)
        if let notificationID { json.member("NotificationId", notificationID) }
        json.member("State", state)
        if waitsForCredential { json.member("WaitsFor", SendOutcomeDetails.credential) }
        json.member("Counts") { json in counts.forEach { json.member($0.name, $0.devices) } }
    }

    fileprivate init?(element: JSONValue) {
        guard let state = element["State"]?.string,
            let counts = SendOutcomeDetails.PlatformCounts(element: element)
        else { return nil }
        self.init(
            platform: counts.platform, notificationID: element["NotificationId"]?.string, state: state,
            waitsForCredential: element["WaitsFor"]?.string == SendOutcomeDetails.credential, counts: counts.counts)
    }
}
