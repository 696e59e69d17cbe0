// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import HTTP
import HTTPTypes
import JSON
import NotificationHub
import Store
import Testing
import Text

/// A right ends with what gave it, and with nothing else: each right of alice's, and each end.
struct EndedRightsTests {
    /// What a credential or a record lets happen for alice.
    enum Right: CaseIterable, Sendable {
        /// The cookie of a log-in.
        case session
        case token
        /// A token that may send to bob alone sends to bob.
        case recipientOfToken
        /// A message to bob, put in with the token, is sent at its time.
        case scheduledMessage
        /// The password that was right a moment ago lets alice in.
        case rememberedPassword
        /// A device that was registered with the token gets what is sent to alice.
        case device
        /// It gets what is sent to her role, and to a tag that the role lets her claim.
        case tagOfRole, claimedTag
        /// A request that she makes again gets the answer of before.
        case idempotencyKey
        /// A text that was left for her can be read.
        case secret
        /// She may ask what became of a message of hers.
        case outcome
        /// A receiver learns that bob has read a message of hers.
        case webhookEvent
        case administration
    }

    enum End: CaseIterable, Sendable {
        case passwordChanged
        /// With `KeepTokens`.
        case passwordRenewed
        case disabled, enabledAgain
        case removed
        /// Removed and added once more: another person, with another password.
        case replaced
        case rolesTaken, tokenEnded, loggedOutEverywhere
        /// Bob was removed and added once more.
        case recipientReplaced
    }

    /// Who cannot log in asks for nothing. That does not end the right: `enabledAgain` is not there.
    private static let noLogIn: Set<End> = [.disabled, .removed, .replaced]

    static func ends(_ right: Right) -> Set<End> {
        switch right {
        case .session:
            [.passwordChanged, .passwordRenewed, .disabled, .enabledAgain, .removed, .replaced, .loggedOutEverywhere]
        case .token: [.passwordChanged, .disabled, .enabledAgain, .removed, .replaced, .tokenEnded]
        case .recipientOfToken:
            [
                .passwordChanged, .disabled, .enabledAgain, .removed, .replaced, .rolesTaken, .tokenEnded,
                .recipientReplaced,
            ]
        // Alice has given the order as herself: neither a new password nor the end of the token takes it back.
        case .scheduledMessage: [.disabled, .removed, .replaced, .rolesTaken, .recipientReplaced]
        case .rememberedPassword: [.passwordChanged, .passwordRenewed, .disabled, .removed, .replaced]
        // What is sent to a disabled user waits and is delivered. Alice sees her devices, and removes one.
        case .device: [.removed, .replaced]
        case .tagOfRole, .claimedTag: [.removed, .replaced, .rolesTaken]
        case .idempotencyKey, .secret, .outcome: noLogIn
        case .webhookEvent: []
        case .administration: noLogIn.union([.rolesTaken])
        }
    }

    /// Which right a record of the store is, or is a part of; nil: none. A new kind of record needs a row here, and where it lets
    /// something happen for a user, a right above.
    private static func right(of record: StoredRecord) throws(StoreError) -> Right? {
        switch record.table {
        case "users": .administration
        case "sessions": .session
        case "tokens": .token
        case "devices", "hub/registrations": .device
        case "notifications": .secret
        case "sent", "messages": .outcome
        case "idempotency": .idempotencyKey
        case StoredRecord.sends: .scheduledMessage
        // What has happened, and what the hub has taken already.
        case "seen", "openings", "hub/messages", StoredRecord.queue, StoredRecord.due: nil
        default: throw .unavailable(detail: "no row for records of \(record.table)")
        }
    }

    private let receiver = Receiver()
    private let policy = TagPolicy(
        defaultTags: [], defaultSendTo: [],
        roles: [
            Role(name: "staff", tags: ["press"], sendTo: ["*"]),
            Role(name: "admin", sendTo: ["*", "tag:*", "role:*"], administers: true),
        ])

    private func site() throws -> TestSite {
        let site = try TestSite(users: ["alice", "bob", "root"], policy: policy) { parts in
            parts.plainSeconds = 86_400
            parts.webhooks = try? receiver.webhooks(parts, [.messageRead], receivers: 1)
        }
        try site.change("alice") { $0.roles = ["staff", "admin"] }
        try site.change("root") { $0.roles = ["admin"] }
        return site
    }

    @Test(arguments: Right.allCases, End.allCases)
    func `a right ends with what gave it, and with nothing else`(right: Right, end: End) throws {
        let scene = EndedRightsScene(site: try site(), policy: policy)
        let holds = try scene.begin(right)
        if right != .scheduledMessage { #expect(try holds("alice-secret")) }
        let password = try scene.make(end)
        #expect(try holds(password) == !Self.ends(right).contains(end))
    }

    @Test func `each record that lets something happen for a user is one of these rights`() throws {
        let site = try site()
        let scene = EndedRightsScene(site: site, policy: policy)
        for right in Right.allCases { _ = try scene.begin(right) }
        var found: Set<Right> = []
        try site.store.forEachRecord(now: Timestamp(seconds: site.clock.seconds)) { (record) throws(StoreError) in
            if let right = try Self.right(of: record) { found.insert(right) }
        }
        #expect(
            found == [
                .administration, .session, .token, .device, .secret, .outcome, .idempotencyKey, .scheduledMessage,
            ])
    }
}
