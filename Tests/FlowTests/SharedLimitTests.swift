// SPDX-License-Identifier: Apache-2.0
import AppBackend
import BuiltInHub
import Foundation
import Store
import Testing

/// A limit that is for all users together has a share for each: every limit is listed here, with the rule that shares it and
/// the test that shows it.
struct SharedLimitTests {
    private enum Rule {
        /// It is one user's, one message's or one device's own.
        case ofOne
        /// The operator's alone, or those whom the operator gave a key: no user of the site has a part in it.
        case ofTheOperator
        /// It bounds no room, but how the work is done: all who wait get their turn.
        case ofWork
        /// All users': why one cannot take it all, and the name of the test that shows it.
        case ofAll(String, shownBy: String)
    }

    private static let ofAllRoom = Rule.ofAll(
        "above half of it each has a share (`SharedRoom`)",
        shownBy: "of what all users share no user takes more than their share")

    private static let ofAllWaiting = Rule.ofAll(
        "the sender with most of it loses the oldest (`WaitingRoom`)",
        shownBy: "of messages that wait for one device or audience, the sender with most of them loses some")

    private static let rules: [String: [String: Rule]] = [
        "Quotas": [
            "notificationsPerOwner": .ofOne, "notificationBytesPerOwner": .ofOne, "plainMessagesPerOwner": .ofOne,
            "plainMessageBytesPerOwner": .ofOne, "devicesPerOwner": .ofOne, "sessionsPerOwner": .ofOne,
            "appTokensPerOwner": .ofOne, "sentPerOwner": .ofOne, "openersPerMessage": .ofOne,
            "idempotencyKeysPerOwner": .ofOne, "queueBytes": ofAllRoom, "webhookBytes": ofAllRoom,
            "sendBytes": ofAllRoom, "scheduledBytes": .ofTheOperator, "scheduledSeconds": .ofTheOperator,
            "hubMessages": .ofAll(
                "the sender with most of them loses the oldest: a key, or a user, who has `sentPerOwner` at most",
                shownBy: "finished sends by keys do not make those of users forgotten"),
            "openings": .ofAll(
                "a user opens a message once, and a message has `openersPerMessage`",
                shownBy: "of a message to a tag each user with such a device counts"),
        ],
        "DeliveryWorker.Options": [
            "inFlight": .ofWork, "inFlightPerService": .ofWork, "unsentPerService": .ofWork, "batch": .ofWork,
            "lookups": .ofWork, "lookupPatience": .ofWork, "messages": .ofWork, "retries": .ofOne, "poll": .ofWork,
            "sendingPoll": .ofWork, "progress": .ofWork, "abandonSeconds": .ofOne, "drain": .ofWork,
            "waitingPerAudience": ofAllWaiting, "waitingPerDevice": ofAllWaiting, "unresolvedTries": .ofOne,
            "waitingBytes": .ofAll(
                "the sender with most of it loses the oldest (`WaitingRoom`)",
                shownBy:
                    "where too much waits, for a service or for a credential, the sender with most of it loses the oldest"
            ),
        ],
        "WebhookWorker.Options": [
            "poll": .ofWork, "inFlight": .ofWork,
            "waiting": .ofAll(
                "of the receiver with most the sender with most loses the oldest (`WebhookRoom`)",
                shownBy: "a sender of many messages costs no other sender's events"),
        ],
    ]

    @Test func `every limit that is for all users together has a share for each`() throws {
        let limits: [String: Any] = [
            "Quotas": Quotas(), "DeliveryWorker.Options": DeliveryWorker.Options(),
            "WebhookWorker.Options": WebhookWorker.Options(),
        ]
        #expect(Set(limits.keys) == Set(Self.rules.keys))
        for (name, rules) in Self.rules {
            let declared = Set(Mirror(reflecting: try #require(limits[name])).children.compactMap(\.label))
            #expect(declared == Set(rules.keys), "\(name): a limit has no rule here, or a rule no limit")
        }
    }

    /// A test that was renamed or taken away is missed here.
    @Test func `the test that shows how a limit is shared is there`() throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let files = try #require(FileManager.default.enumerator(at: tests, includingPropertiesForKeys: nil))
        var missing: Set<String> = []
        for case .ofAll(_, let test) in Self.rules.values.flatMap(\.values) { missing.insert("func `\(test)`") }
        for case let file as URL in files where file.pathExtension == "swift" && !missing.isEmpty {
            let text = try String(contentsOf: file, encoding: .utf8)
            missing = missing.filter { !text.contains($0) }
        }
        #expect(missing.isEmpty)
    }
}
