// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import DeviceClient
import HTTP
import HTTPTypes
import Testing

struct NotificationClientTests {
    private static let enqueued =
        #"{"Outcomes":[{"Platform":"apns","State":"Enqueued","NotificationId":"n1"}]}"#

    @Test func `a send names platform and user in the query and the message in the body`() async throws {
        let transport = ScriptedTransport(.body(Self.enqueued))
        let outcome = try await Example.notificationClient(transport).send(
            "say \"hi\" <now>\n", to: "bob.b@x", on: .apns)

        #expect(transport.lines == ["POST /api/notifications?pns=apns&to_tag=bob.b%40x"])
        let request = try #require(transport.requests.first)
        #expect(request.body == [UInt8](#""say \"hi\" <now>\n""#.utf8))
        #expect(outcome.isAccepted && outcome.outcomes.first?.notificationID == "n1")
    }

    @Test func `a message object is one call, whose answer names what a platform ignored`() async throws {
        let body = #"{"Outcomes":[{"Platform":"wns","State":"Enqueued","Ignored":["Badge"]}]}"#
        let transport = ScriptedTransport(.body(body))
        let message = PushMessage(to: "bob", title: "Lunch", badge: 2, platforms: ["wns"])
        let outcome = try await Example.notificationClient(transport).send(message)
        #expect(transport.lines == ["POST /api/notifications"])
        #expect(
            transport.requests.first?.body
                == [UInt8](#"{"To":"bob","Title":"Lunch","Badge":2,"Platforms":["wns"]}"#.utf8))
        #expect(outcome.outcomes.first?.ignored == ["Badge"])
    }

    @Test func `a key is sent with each try, and each platform has a part of it of its own`() async throws {
        let enqueued = Response.body(Self.enqueued)
        let transport = ScriptedTransport(enqueued, enqueued, enqueued, enqueued, enqueued, enqueued)
        let client = try Example.notificationClient(transport)
        let key = try #require(IdempotencyKey("k"))
        for _ in 0..<2 { _ = try await client.send("a", to: "bob", on: [.apns, .wns], key: key) }
        _ = try await client.send("a", to: "bob", on: .apns)
        _ = try await client.sendSecure("a", key: key)
        let parts = [#""k-apns""#, #""k-wns""#]
        #expect(transport.requests.map { $0.fields[.idempotencyKey] } == parts + parts + [nil, #""k""#])
    }

    @Test func `a hub that took nothing is an outcome, not an error`() async throws {
        let body = #"{"Outcomes":[{"Platform":"wns","State":"Abandoned","Error":"no credential"}]}"#
        let transport = ScriptedTransport(.body(body, status: .badGateway))
        let outcome = try await Example.notificationClient(transport).send("a", to: "bob", on: .wns)
        #expect(!outcome.isAccepted)
        #expect(outcome.outcomes.first?.error == "no credential")
    }

    @Test func `a bad gateway without an outcome is an error`() async throws {
        let client = try Example.notificationClient(ScriptedTransport(.problem(.hubRefused)))
        await #expect(throws: DeviceClientError.refused(Problem(.hubRefused, "No."))) {
            try await client.send("a", to: "bob", on: .wns)
        }
    }

    @Test func `several platforms are one call each, and one failure does not hide the others`() async throws {
        let transport = ScriptedTransport(.problem(.unknownPlatform, "No such platform."), .body(Self.enqueued))
        let outcome = try await Example.notificationClient(transport).send(
            "a", to: "bob", on: [.mpns, .apns])
        #expect(
            outcome.outcomes == [
                .init(platform: "mpns", state: "Abandoned", error: "No such platform."),
                .init(platform: "apns", state: "Enqueued", notificationID: "n1"),
            ])
        #expect(transport.requests.count == 2)
    }

    @Test func `when every platform fails the first error is thrown`() async throws {
        let transport = ScriptedTransport(.problem(.recipientNotAllowed, "Not to bob."), .problem(.unknownPlatform))
        let client = try Example.notificationClient(transport)
        await #expect(throws: DeviceClientError.refused(Problem(.recipientNotAllowed, "Not to bob."))) {
            try await client.send("a", to: "bob", on: [.apns, .wns])
        }
        #expect(transport.requests.count == 2)
    }

    @Test func `a wrong password is tried once, not once per platform`() async throws {
        let transport = ScriptedTransport(.problem(.wrongCredentials))
        let client = try Example.notificationClient(transport)
        await #expect(throws: DeviceClientError.unauthorized(Problem(.wrongCredentials, "No."))) {
            try await client.send("a", to: "bob", on: DevicePlatform.allCases)
        }
        #expect(transport.requests.count == 1)
    }

    @Test(
        arguments: [
            (nil, nil, "POST /api/notifications", ""),
            ("the code is 7", nil, "POST /api/notifications", "\"the code is 7\""),
            ("x", "bob", "POST /api/notifications?to_tag=bob", "\"x\""),
        ] as [(String?, String?, String, String)])
    func `a secure push names no platform`(secret: String?, user: String?, line: String, body: String) async throws {
        let transport = ScriptedTransport(.body(#"{"Id":7,"Outcomes":[{"Platform":"apns","State":"Enqueued"}]}"#))
        let outcome = try await Example.notificationClient(transport).sendSecure(secret, to: user)
        #expect(outcome.id == 7)
        #expect(transport.lines == [line])
        let request = try #require(transport.requests.first)
        #expect(request.body == [UInt8](body.utf8))
        #expect((request.fields[.contentType] != nil) == (secret != nil))
    }

    @Test func `a secure message is read by token where there is one, else by id`() async throws {
        let body = #"{"Id":7,"Payload":"secret","Read":false}"#
        let transport = ScriptedTransport(.body(body), .body(body))
        let client = try Example.notificationClient(transport)
        let plain = try #require(SecureReference(id: 7))
        let named = try #require(SecureReference(id: 7, token: "AAAAAAAAAAAAAAAAAAAA-_"))
        #expect(
            try await client.secureMessage(plain) == SecureMessage(id: 7, payload: "secret", isRead: false))
        _ = try await client.secureMessage(named)
        #expect(
            transport.lines == ["GET /api/notifications/7", "GET /api/notifications/AAAAAAAAAAAAAAAAAAAA-_"])
    }

    @Test func `a secure message says who has left it and when, where the backend does`() async throws {
        let origin = #""From":"bob","SentAt":"2026-11-22T09:00:00Z""#
        let transport = ScriptedTransport(
            .body(#"{"Id":7,"Payload":"p","Read":true,\#(origin)}"#),
            .body(#"[{"Id":7,"Read":true,\#(origin)},{"Id":6,"Read":false}]"#))
        let client = try Example.notificationClient(transport)
        let message = try await client.secureMessage(#require(SecureReference(id: 7)))
        #expect((message.sender, message.sentAt) == ("bob", "2026-11-22T09:00:00Z"))
        let list = try await client.secureMessages()
        #expect(list.map(\.sender) == ["bob", nil] && list.map(\.sentAt) == ["2026-11-22T09:00:00Z", nil])
    }

    @Test func `a secure message is deleted by its token or id`() async throws {
        let transport = ScriptedTransport(.body(""), .problem(.noSuchMessage))
        let client = try Example.notificationClient(transport)
        try await client.deleteSecureMessage(#require(SecureReference(id: 7, token: "AAAAAAAAAAAAAAAAAAAA-_")))
        let gone = try #require(SecureReference(id: 7))
        await #expect(throws: DeviceClientError.refused(Problem(.noSuchMessage, "No."))) {
            try await client.deleteSecureMessage(gone)
        }
        #expect(
            transport.lines == ["DELETE /api/notifications/AAAAAAAAAAAAAAAAAAAA-_", "DELETE /api/notifications/7"])
    }

    @Test func `another user's message is refused with 404`() async throws {
        let client = try Example.notificationClient(ScriptedTransport(.problem(.noSuchMessage)))
        let reference = try #require(SecureReference(id: 7))
        await #expect(throws: DeviceClientError.refused(Problem(.noSuchMessage, "No."))) {
            try await client.secureMessage(reference)
        }
    }

    @Test func `what became of a send is asked for by the hub's id`() async throws {
        let counts = #"{"Success":2,"ExpiredChannel":1,"More":0}"#
        let body = #"{"NotificationId":"n-1","State":"Processing","Outcomes":[{"Platform":"wns","Counts":\#(counts)}]}"#
        let transport = ScriptedTransport(.body(body))
        let details = try await Example.notificationClient(transport).outcome(of: "n-1")
        #expect(transport.lines == ["GET /api/notifications/outcomes/n-1"])
        #expect(details.state == "Processing" && !details.isFinal)
        #expect(
            details.outcomes == [
                .init(platform: "wns", counts: [.init("Success", 2), .init("ExpiredChannel", 1), .init("More", 0)])
            ])
        #expect(String(decoding: details.json, as: UTF8.self) == body)
    }

    @Test(arguments: ["", "..", "a/b", "a?b", "n 1", "é"])
    func `a malformed id of a send is refused without a request`(id: String) async throws {
        let transport = ScriptedTransport()
        let problem = Problem(.noSuchMessage, "This is no notification's id.")
        let client = try Example.notificationClient(transport)
        await #expect(throws: DeviceClientError.refused(problem)) { try await client.outcome(of: id) }
        #expect(transport.requests.isEmpty)
    }

    @Test(arguments: [
        "", "{}", #"{"NotificationId":"n","State":"Completed"}"#,
        #"{"NotificationId":"n","State":"Completed","Outcomes":[{}]}"#,
        #"{"NotificationId":"n","State":"Completed","Outcomes":[{"Platform":"wns","Counts":{"Success":-1}}]}"#,
        #"{"NotificationId":"n","State":"Completed","Outcomes":[{"Platform":"wns","Counts":{"Success":"1"}}]}"#,
    ])
    func `an answer that does not tell what became of a send is refused`(body: String) async throws {
        let client = try Example.notificationClient(ScriptedTransport(.body(body)))
        let problem = Problem.malformedAnswer("The answer does not tell what became of a send.")
        await #expect(throws: DeviceClientError.malformedAnswer(problem)) { try await client.outcome(of: "n") }
    }

    @Test func `counts of one name are one count`() {
        let counts = SendOutcomeDetails.PlatformCounts(
            platform: "apns", counts: [.init("Success", 2), .init("Skipped", 1), .init("Success", .max)])
        #expect(counts.counts == [.init("Success", .max), .init("Skipped", 1)])
    }

    @Test func `the inbox is asked for by page, and with the tag of what is known`() async throws {
        let body =
            #"{"Unread":1,"Messages":[{"Id":9,"Secure":false,"Read":false,"From":"bob","Title":"T","Body":"B","More":1}]}"#
        let transport = ScriptedTransport(
            Response(fields: [.eTag: "\"1-a\""], body: Array(body.utf8)),
            Response(status: .notModified), .body(#"{"Unread":0,"Messages":[]}"#), .body(""), .body(""))
        let client = try Example.notificationClient(transport)
        let first = try await client.inbox()
        #expect(
            first.messages
                == [InboxMessage(id: 9, isSecure: false, isRead: false, sender: "bob", title: "T", body: "B")])
        #expect(first.unread == 1 && first.entityTag == "\"1-a\"")
        #expect(try await client.inbox(known: first) == first)
        #expect(try await client.inbox(unreadOnly: true, after: 9, limit: 2, known: first).messages.isEmpty)
        try await client.markAsRead(9)
        try await client.deleteFromInbox(9)
        #expect(
            transport.lines == [
                "GET /api/inbox", "GET /api/inbox", "GET /api/inbox?unread=true&after=9&limit=2",
                "POST /api/inbox/9/read", "DELETE /api/inbox/9",
            ])
        #expect(transport.requests.map { $0.fields[.ifNoneMatch] } == [nil, "\"1-a\"", "\"1-a\"", nil, nil])
    }

    @Test(arguments: [
        "", "[]", #"{"Messages":[]}"#, #"{"Unread":0}"#, #"{"Unread":0,"Messages":[{"Id":9,"Read":true}]}"#,
    ])
    func `a malformed inbox is refused`(body: String) async throws {
        let client = try Example.notificationClient(ScriptedTransport(.body(body)))
        let problem = Problem.malformedAnswer("The answer is not an inbox.")
        await #expect(throws: DeviceClientError.malformedAnswer(problem)) { try await client.inbox() }
    }

    @Test func `the list is asked for by page`() async throws {
        let body = #"[{"Id":9,"Read":true,"More":1},{"Id":8,"Read":false}]"#
        let transport = ScriptedTransport(.body(body), .body("[]"))
        let client = try Example.notificationClient(transport)
        #expect(try await client.secureMessages() == [.init(id: 9, isRead: true), .init(id: 8, isRead: false)])
        #expect(try await client.secureMessages(unreadOnly: true, after: 8, limit: 2).isEmpty)
        #expect(
            transport.lines == ["GET /api/notifications", "GET /api/notifications?unread=true&after=8&limit=2"])
    }

    @Test(arguments: ["", "{}", #"[{"Id":9}]"#, #"[{"Id":4294967296,"Read":true}]"#, "[1]"])
    func `a malformed list is refused`(body: String) async throws {
        let client = try Example.notificationClient(ScriptedTransport(.body(body)))
        let problem = Problem.malformedAnswer("The answer is not a list of secure notifications.")
        await #expect(throws: DeviceClientError.malformedAnswer(problem)) { try await client.secureMessages() }
    }
}
