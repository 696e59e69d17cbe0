// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import HTTP
import HTTPTypes
import JSON
import NotificationHub
import Store
import Testing

/// The device that names itself in a message object does not get it, and all others do.
struct SendingDeviceTests {
    private static let policy = TagPolicy(
        roles: [Role(name: "oncall"), Role(name: "all", mayBroadcast: true)])

    /// Bob has two devices, and alice one; all of them bear `news`, and bob's first one hears what bob sends.
    private struct Scene {
        let site: TestSite
        let own: String
        let other: String
        let alices: String

        init(_ road: TestSite.Road) throws {
            site = try TestSite(users: ["alice", "bob"], policy: SendingDeviceTests.policy, road: road)
            try site.change("bob") {
                ($0.tags, $0.sendTo, $0.roles) = (["*", "from:bob"], ["*", "tag:*", "role:*"], ["oncall", "all"])
            }
            own = try site.register("bob", handle: TestSite.token(1), tags: ["news", "from:bob"])
            other = try site.register("bob", handle: TestSite.token(2), tags: ["news"])
            alices = try site.register("alice", handle: TestSite.token(3), tags: ["news"])
        }

        func devices(_ message: PushMessage) throws -> Int { try site.devices(of: site.send(message)) }
    }

    private static let rows: [(PushMessage.Recipients, Int)] = [
        ("bob", 2), ("alice", 2), ("tag:news", 3), ("role:oncall", 2), ("*", 3), ("tags:news && !beta", 3),
        ("tags:news || beta", 3), (.several(["alice", "bob"]), 3), (.several(["tag:news", "role:oncall", "alice"]), 3),
    ]

    @Test(arguments: TestSite.Road.allCases)
    func `whatever the recipients are, it is left out of them, and no other is`(road: TestSite.Road) throws {
        let scene = try Scene(road)
        for (to, count) in Self.rows {
            var message = PushMessage(to: to, body: "Hi", platforms: ["apns"])
            #expect(try scene.devices(message) == count, "\(to)")
            message.fromDevice = scene.own
            #expect(try scene.devices(message) == count - 1, "\(to)")
        }
        let alone = PushMessage(to: .one("device:\(scene.own)"), body: "Hi", fromDevice: scene.own)
        #expect(try scene.devices(alone) == 0)
        let elsewhere = PushMessage(to: .one("device:\(scene.other)"), body: "Hi", fromDevice: scene.own)
        #expect(try scene.devices(elsewhere) == 1)
    }

    @Test(arguments: TestSite.Road.allCases)
    func `it is not told of a secure message either, and its user still has it`(road: TestSite.Road) throws {
        let scene = try Scene(road)
        for to: PushMessage.Recipients in ["bob", .several(["bob"]), .several(["alice", "bob"])] {
            let secure = PushMessage(to: to, body: "Hi", isSecure: true, platforms: ["apns"], fromDevice: scene.own)
            let count = to == .several(["alice", "bob"]) ? 2 : 1
            #expect(try scene.devices(secure) == count)
        }
        let kept = try Inbox(scene.site.call(.get, Path.inbox, as: "bob")).messages
        #expect(kept.count == 3)
        try scene.site.change("bob") { $0.isSecureOnly = true }
        #expect(try scene.devices(PushMessage(to: "bob", body: "Hi", platforms: ["apns"], fromDevice: scene.own)) == 1)
    }

    @Test(arguments: TestSite.Road.allCases)
    func `a device of the older call is left out of what templates reach`(road: TestSite.Road) throws {
        let scene = try Scene(road)
        var ids: [String] = []
        for (platform, number) in [("ios", 4), ("ios", 5), ("android", 6)] {
            let body =
                #"{"platform":"\#(platform)","instId":"i-\#(number)","deviceToken":"\#(TestSite.token(number))"}"#
            let answer = scene.site.call(.post, Path.register, as: "bob", body: body)
            ids.append(try #require(try JSONValue(parsing: answer.body)["RegistrationId"]?.string))
        }
        func devices(_ platforms: [String], secure: Bool = false, from: String?) throws -> Int {
            try scene.devices(
                PushMessage(to: "bob", body: "Hi", isSecure: secure, platforms: platforms, fromDevice: from))
        }
        for secure in [false, true] {
            let every = try devices([], secure: secure, from: nil)
            let apple = try devices(["apns"], secure: secure, from: nil)
            #expect(every == 5 && apple == 4)
            for id in ids { #expect(try devices([], secure: secure, from: id) == every - 1) }
            #expect(try devices(["apns"], secure: secure, from: ids[0]) == apple - 1)
            #expect(try devices(["apns"], secure: secure, from: ids[2]) == apple)
        }
        let tag = PushMessage(to: "tag:i-4", body: "Hi", fromDevice: ids[0])
        // What hears bob has no template.
        #expect(try scene.devices(tag) == 1)
    }

    @Test func `an app may name itself by the id that it has, which is not the registration's`() throws {
        let scene = try Scene(.wire)
        let body = DeviceRegistration(platform: "apns", handle: TestSite.token(7), tags: []).json
        let answer = scene.site.call(
            .put, "\(Path.register)/of-another-backend", as: "bob", body: String(decoding: body, as: UTF8.self))
        #expect(answer.status == .ok)
        let message = PushMessage(to: "bob", body: "Hi", platforms: ["apns"])
        let count = try scene.devices(message)
        var from = message
        from.fromDevice = "of-another-backend"
        #expect(try scene.devices(from) == count - 1)
    }

    @Test func `any other id is refused, and nothing is sent or kept`() throws {
        let scene = try Scene(.wire)
        let handedOut = try scene.site.newID("bob")
        for secure in [false, true] {
            for id in [scene.alices, handedOut, "1-2-1", "a b", String(repeating: "x", count: 300)] {
                let users: [PushMessage.Recipients] = ["alice", .several(["alice", "bob"])]
                for to in users + ["tag:news", "role:oncall", "*"]
                where !secure || users.contains(to) {
                    let problem = Problem(
                        scene.site.send(PushMessage(to: to, body: "Hi", isSecure: secure, fromDevice: id)))
                    #expect(problem.code == .unknownDevice && problem.field == "FromDevice")
                }
            }
        }
        #expect(scene.site.hub.messages.isEmpty)
        #expect(try Inbox(scene.site.call(.get, Path.inbox, as: "alice")).messages.isEmpty)
        // One that was removed counts no more.
        #expect(scene.site.call(.delete, "\(Path.register)/\(scene.own)", as: "bob").status == .ok)
        let gone = Problem(scene.site.send(PushMessage(to: "bob", body: "Hi", fromDevice: scene.own)))
        #expect(gone.field == "FromDevice")
    }

    @Test(arguments: TestSite.Road.allCases)
    func `recipients without it may be as many as ever, and those with it as many as a hub takes`(
        road: TestSite.Road
    ) throws {
        let scene = try Scene(road)
        func message(_ texts: [String], from: String?) -> PushMessage {
            PushMessage(to: .several(texts), body: "Hi", platforms: ["apns"], fromDevice: from)
        }
        let four = ["bob", "tag:a", "tag:b", "tag:c"]
        #expect(scene.site.send(message(four, from: scene.own)).status == .ok)
        let five = message(four + ["tag:d"], from: scene.own)
        let problem = Problem(scene.site.send(five))
        #expect(problem.code == .tooManyTags && problem.field == "FromDevice" && problem.detail.contains("at most 4"))
        #expect(scene.site.send(message(four + ["tag:d"], from: nil)).status == .ok)
        // This device does not hear bob, and is not alice's.
        let many = ["alice"] + (1...18).map { "tag:t\($0)" }
        #expect(scene.site.send(message(many, from: scene.other)).status == .ok)
        let expression = PushMessage(to: "tags:a && b && c && d && e", body: "Hi", fromDevice: scene.other)
        #expect(scene.site.send(expression).status == .ok)
        // More parentheses than a hub takes.
        let deep = "tags:" + String(repeating: "!", count: 14) + "news"
        #expect(scene.site.send(PushMessage(to: .one(deep), body: "Hi")).status == .ok)
        let refused = scene.site.send(PushMessage(to: .one(deep), body: "Hi", fromDevice: scene.own))
        #expect(refused.status == .badRequest && Problem(refused).field == "FromDevice")
    }

    @Test func `it goes with silent messages, and is not in the outcome's list of what was ignored`() throws {
        let scene = try Scene(.wire)
        let answer = scene.site.send(PushMessage(to: "bob", isSilent: true, platforms: ["apns"], fromDevice: scene.own))
        #expect(answer.status == .ok)
        #expect(try SendOutcome(answer).outcomes.map(\.ignored) == [[]])
    }
}
