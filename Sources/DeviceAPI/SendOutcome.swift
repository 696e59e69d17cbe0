// SPDX-License-Identifier: Apache-2.0
public import HTTP
internal import JSON

/// What became of a send, platform by platform: the answer of `POST /api/notifications`.
public struct SendOutcome: Equatable, Sendable {
    /// The secure notification's id; nil after a plain send, and after one to several users.
    public var id: Int32?
    /// By which the sender of a message object asks what became of it; nil after a send of a string, and after a secure one to
    /// several users.
    public var messageID: String?
    /// After a secure send to several users the id that each of them has it by, by the user's name; else empty.
    public var ids: [String: Int32]
    /// When the backend sends the message, in UTC; nil: it was sent at once. Then there are no outcomes yet.
    public var sendAt: String?
    /// One for each platform that was tried, in that order, and one for templates where the recipient has any.
    public var outcomes: [PlatformOutcome]

    /// What became of the send on one platform.
    public struct PlatformOutcome: Equatable, Sendable {
        /// `apns`, `fcm`, `wns` or `browser`; `template` for devices of the older registration call, of any platform.
        public var platform: String
        /// The user whose devices it is about, after a secure send to several; else nil.
        public var recipient: String?
        /// `Enqueued`; `NoTargetFound` when the hub knows at once that there is no such device; `Abandoned` when the hub
        /// did not take it; `Skipped` when the platform cannot express the message at all, or nothing is delivered there.
        public var state: String
        /// The hub's name for this send; nil where the hub's tier gives none.
        public var notificationID: String?
        /// Why the hub did not take it, in words for the sender.
        public var error: String?
        /// The members of a message object that the platform cannot express.
        public var ignored: [String]

        /// - Parameter error: in words for the sender; never the hub's own.
        public init(
            platform: String, recipient: String? = nil, state: String, notificationID: String? = nil,
            error: String? = nil, ignored: [String] = []
        ) {
            (self.platform, self.recipient) = (platform, recipient)
            self.state = state
            self.notificationID = notificationID
            self.error = error
            self.ignored = ignored
        }
    }

    /// - Parameters:
    ///   - id: of the secure notification; nil after a plain send.
    ///   - messageID: nil after a send of a string.
    ///   - ids: those of a secure send to several users, by their names.
    ///   - sendAt: nil: it was sent at once.
    public init(
        id: Int32? = nil, messageID: String? = nil, ids: [String: Int32] = [:], sendAt: String? = nil,
        outcomes: [PlatformOutcome]
    ) {
        (self.id, self.messageID, self.ids, self.sendAt) = (id, messageID, ids, sendAt)
        self.outcomes = outcomes
    }

    /// Whether at least one platform took it.
    public var isAccepted: Bool {
        outcomes.contains { !["Abandoned", "Skipped"].contains($0.state) }
            || !outcomes.isEmpty && outcomes.allSatisfy { $0.state == "Skipped" }
    }

    /// As it crosses the wire.
    public var json: [UInt8] {
        JSONWriter.object { writeMembers(to: &$0) }.bytes
    }

    func writeMembers(to json: inout JSONWriter) {
        if let id { json.member("Id", id) }
        if let messageID { json.member("MessageId", messageID) }
        if !ids.isEmpty { json.member("Ids") { $0.members(ids) } }
        if let sendAt { json.member("SendAt", sendAt) }
        json.member("Outcomes", outcomes) { $0.writeMembers(to: &$1) }
    }

    /// - Throws: `Problem` 502, when the answer is not an outcome.
    public init(_ response: Response) throws(Problem) {
        guard let document = try? JSONValue(parsing: response.body), let list = document["Outcomes"]?.array else {
            throw Problem.malformedAnswer("The answer is not the outcome of a send.")
        }
        id = document["Id"]?.integer.flatMap { Int32(exactly: $0) }
        messageID = document["MessageId"]?.string
        sendAt = document["SendAt"]?.string
        let members = document["Ids"]?.members ?? []
        ids = Dictionary(
            members.compactMap { member in
                member.value.integer.flatMap { Int32(exactly: $0) }.map { (member.name, $0) }
            }, uniquingKeysWith: { first, _ in first })
        outcomes = list.map { item in
            PlatformOutcome(
                platform: item["Platform"]?.string ?? "", recipient: item["To"]?.string,
                state: item["State"]?.string ?? "Unknown",
                notificationID: item["NotificationId"]?.string, error: item["Error"]?.string,
                ignored: item["Ignored"]?.array?.compactMap(\.string) ?? [])
        }
    }
}

extension SendOutcome.PlatformOutcome {
    fileprivate func writeMembers(to json: inout JSONWriter) {
        json.member("Platform", platform)
        if let recipient { json.member("To", recipient) }
        json.member("State", state)
        if let notificationID { json.member("NotificationId", notificationID) }
        if let error { json.member("Error", error) }
        if !ignored.isEmpty { json.member("Ignored", ignored) }
    }
}
