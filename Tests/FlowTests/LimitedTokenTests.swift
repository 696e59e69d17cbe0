// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import HTTP
import HTTPTypes
import NotificationHub
import Store
import Testing
import Text

/// App tokens that may send to some users alone.
struct LimitedTokenTests {
    private let site: TestSite

    init() throws { site = try TestSite(users: ["alice", "bob", "carol"]) }

    private func call(query: String = "", bearer: String, body: String) -> Response {
        site.call(
            .post, Path.notifications, query: query, body: body, fields: [.authorization: "Bearer \(bearer)"])
    }

    @Test func `one that names its recipients sends to no other, not even to its user`() throws {
        let token = try site.appToken(#"{"Scopes":["send"],"To":["Bob"]}"#)
        func send(_ query: String, _ body: String = "\"m\"") -> HTTPResponse.Status {
            call(query: query, bearer: token, body: body).status
        }
        for pns in ["", "pns=apns&"] {
            #expect(send(pns + "to_tag=bob") == .ok)
            #expect(send(pns + "to_tag=carol") == .forbidden)
            #expect(send(pns + "to_tag=alice") == .forbidden)
        }
        #expect(send("") == .forbidden)
        #expect(send("", #"{"To":"bob","Body":"m"}"#) == .ok)
        let refused = call(
            bearer: token, body: #"{"To":"carol","Body":"m"}"#)
        #expect(refused.status == .forbidden && Problem(refused).field == "To")
    }

    @Test(arguments: [true, false])
    func `one that names its recipients reaches no next user of their names`(isOfEarlierVersion: Bool) throws {
        let token = try site.appToken(#"{"Scopes":["send"],"To":["bob","dora"]}"#)
        func send(_ name: String) -> Response {
            call(query: "pns=apns&to_tag=\(name)", bearer: token, body: "\"m\"")
        }
        if isOfEarlierVersion {
            var record = try #require(try site.store.appTokens(owner: "alice", now: Timestamp(seconds: 0)).first)
            #expect(try site.store.removeAppToken(record.id, owner: "alice"))
            record.recipientOwners = []
            try site.store.createAppToken(record, now: Timestamp(seconds: 0))
            // Its names mean whom they mean at its first use.
            _ = try site.upkeep().remove("bob")
            try site.addAgain("bob")
        }
        #expect(send("bob").status == .ok)
        _ = try site.upkeep().remove("bob")
        // There is no such user, and none of the name was meant.
        #expect(send("bob").status == .forbidden)
        try site.addAgain("bob")
        let refused = send("bob")
        #expect(Problem(refused).code == .tokenNotAllowed && Problem(refused).field == "to_tag")
        let object = call(bearer: token, body: #"{"To":["dora","bob"],"Body":"m"}"#)
        #expect(object.status == .forbidden && Problem(object).field == "To")
        // Who is to be added yet was meant, and is it still.
        _ = try site.store.putUser(User(name: "dora", passwordHash: ""))
        #expect(send("dora").status == .ok)
        let next = try site.appToken(#"{"Scopes":["send"],"To":["bob"]}"#)
        #expect(call(bearer: next, body: #"{"To":"bob","Body":"m"}"#).status == .ok)
    }

    @Test func `one that names its recipients sends to their devices, and to no others`() throws {
        let fields = try site.sendingToken(#","To":["alice"]"#)
        let (alices, carols) = (
            try site.register("alice", handle: TestSite.token(1)), try site.register("carol", handle: TestSite.token(2))
        )
        func status(_ id: String) -> HTTPResponse.Status {
            site.send(PushMessage(to: .one("device:\(id)"), body: "Hi"), fields: fields).status
        }
        #expect(status(alices) == .ok && status(carols) == .forbidden)
        // The same phone in other hands.
        #expect(site.put(alices, as: "carol", handle: TestSite.token(1)).status == .ok)
        #expect(status(alices) == .forbidden)
    }

    @Test func `one that names its recipients gets no answer that its user got, and sends no message twice`() throws {
        let limited = try site.sendingToken(#","To":["carol"]"#)
        let free = try site.sendingToken()
        func send(_ to: String, _ fields: HTTPFields) -> Response {
            var fields = fields
            fields[.idempotencyKey] = "k-1"
            return site.send(PushMessage(to: .one(to), body: "Hi", platforms: ["apns"]), fields: fields)
        }
        let first = send("alice", free)
        #expect(first.status == .ok)
        send("alice", limited).expectConflict()
        send("carol", limited).expectConflict()
        first.expectRepeated(send("alice", free))
        #expect(site.hub.messages.count == 1)
    }
}
