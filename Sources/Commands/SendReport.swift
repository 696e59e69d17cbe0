// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import JSON
import NotificationHub
import Push

/// What became of a send on each of its platforms, as an operator reads it.
struct SendReport {
    /// One platform, or where the hub tells of none, the send.
    struct Line {
        let platform: String
        /// Of a secure send to several users.
        var recipient: String?
        let notificationID: String?
        var state: String
        var error: String?
        /// How many devices met which fate.
        var counts: [SendOutcomeDetails.Count] = []
        /// Whether asking again is of no use.
        var isFinal: Bool
        /// Why it waits for something that an operator may have to correct; nil: it does not.
        var waitReason: String?
        /// What a push service said that keeps it waiting, where nothing need be corrected; nil: none did.
        var serviceReason: String?
    }

    /// What all of it comes to.
    enum Verdict {
        /// A push service took it for at least one device.
        case reached
        case noDevice
        case unknown
        /// The hub did not take it.
        case refused
    }

    /// Of a secure send.
    private(set) var secretID: Int32?
    /// Of one to several users, by their names.
    private(set) var secretIDs: [String: Int32] = [:]
    /// By which the send is asked for on all platforms; nil where it has no such id.
    private(set) var messageID: String?
    private(set) var lines: [Line] = []

    init() {}

    /// What the hub says of one send.
    /// - Parameter found: the same, with what keeps it waiting.
    init(_ details: SendOutcomeDetails, _ found: NotificationDetails) {
        let (waitReason, serviceReason) = (found.waitReason, found.serviceReason)
        let ended = (id: details.notificationID, state: details.state, isFinal: details.isFinal)
        lines = details.outcomes.map { outcome in
            Line(
                platform: outcome.platform, notificationID: ended.id, state: ended.state, counts: outcome.counts,
                isFinal: ended.isFinal, waitReason: waitReason, serviceReason: serviceReason)
        }
        guard lines.isEmpty else { return }
        lines = [
            Line(
                platform: "-", notificationID: ended.id, state: ended.state, isFinal: ended.isFinal,
                waitReason: waitReason, serviceReason: serviceReason)
        ]
    }

    mutating func add(_ outcome: SendOutcome) {
        secretID = outcome.id ?? secretID
        messageID = outcome.messageID ?? messageID
        secretIDs.merge(outcome.ids) { $1 }
        lines += outcome.outcomes.map { outcome in
            // The hub gives no id where it cannot be asked either.
            let isFinal = outcome.notificationID == nil || !["Enqueued", "Processing"].contains(outcome.state)
            return Line(
                platform: outcome.platform, recipient: outcome.recipient, notificationID: outcome.notificationID,
                state: outcome.state, error: outcome.error, isFinal: isFinal)
        }
    }

    /// The numbers by which a secret waits: `7`, or `7 (alice), 9 (bob)`; nil: there is no secret.
    var secretNumbers: String? {
        let several = secretIDs.sorted { $0.key < $1.key }.map { "\($0.value) (\($0.key))" }
        return several.isEmpty ? secretID.map { "\($0)" } : several.joined(separator: ", ")
    }

    var isFinal: Bool { lines.allSatisfy(\.isFinal) }

    /// Asks for each platform of which nothing final is known yet.
    /// - Parameter details: nil: not known yet.
    mutating func update(_ details: (String) throws(HubError) -> NotificationDetails?) throws(HubError) {
        for index in lines.indices where !lines[index].isFinal {
            guard let id = lines[index].notificationID, let found = try details(id) else { continue }
            lines[index].counts = found.outcomes.flatMap(\.counts).map { SendOutcomeDetails.Count($0.name, $0.count) }
            lines[index].state = found.state
            (lines[index].waitReason, lines[index].serviceReason) = (found.waitReason, found.serviceReason)
            lines[index].isFinal = SendOutcomeDetails(notificationID: id, state: found.state, outcomes: []).isFinal
        }
    }

    var verdict: Verdict {
        let counts = lines.flatMap(\.counts).filter { $0.devices > 0 }
        if counts.contains(where: { $0.name == PushOutcome.success.rawValue }) { return .reached }
        if lines.allSatisfy({ $0.error != nil }) { return .refused }
        let isUnknown = counts.contains { $0.name == PushOutcome.unknownError.rawValue }
        return isUnknown || lines.contains { $0.state == "Enqueued" || !$0.isFinal } ? .unknown : .noDevice
    }

    // MARK: For people

    /// A sentence for each platform whose message waits, for a service or for something that an operator may have to correct.
    var waits: [String] {
        lines.compactMap { line in
            (line.waitReason ?? line.serviceReason).map { reason in
                let message = line.platform == "-" ? "The message" : "\(line.platform): the message"
                return "\(message) waits, and is given up after 30 minutes: \(reason)"
            }
        }
    }

    var table: String {
        let rows = lines.map { line in
            let counts = line.counts.map { "\($0.name) \($0.devices)" }.joined(separator: ", ")
            return [line.platform] + (line.recipient.map { [$0] } ?? []) + [
                line.state, line.error ?? (counts.isEmpty ? "-" : counts), line.notificationID ?? "-",
            ]
        }
        let head = ["platform"] + (secretIDs.isEmpty ? [] : ["to"]) + ["state", "devices", "id"]
        let lines = TextTable.lines([head] + rows, textColumns: Set(head.indices))
        return (lines + (messageID.map { ["message \($0)"] } ?? [])).joined(separator: "\n")
    }

    // MARK: For scripts

    var json: String {
        JSONWriter.object { json in
            if let secretID { json.member("Id", secretID) }
            if let messageID { json.member("MessageId", messageID) }
            if !secretIDs.isEmpty { json.member("Ids") { $0.members(secretIDs) } }
            json.member("Outcomes", lines) { line, json in
                json.member("Platform", line.platform)
                if let recipient = line.recipient { json.member("To", recipient) }
                json.member("State", line.state)
                if let id = line.notificationID { json.member("NotificationId", id) }
                if let error = line.error { json.member("Error", error) }
                if line.waitReason != nil { json.member("WaitsFor", "credential") }
                json.member("Counts") { json in line.counts.forEach { json.member($0.name, $0.devices) } }
            }
        }.text
    }
}
