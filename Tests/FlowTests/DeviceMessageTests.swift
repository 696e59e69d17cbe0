// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import HTTP
import HTTPTypes
import NotificationHub
import Store
import Testing

/// A message object to one device: its platform, and that a sender learns nothing of others' ids.
struct DeviceMessageTests {
    /// - Parameter sendTo: bob's patterns.
    private func site(_ sendTo: [String]? = ["alice"], road: TestSite.Road = .wire) throws -> TestSite {
        let site = try TestSite(users: ["alice", "bob", "carol"], road: road)
        try site.change("bob") { $0.sendTo = sendTo }
        return site
    }

    @Test(arguments: TestSite.Road.allCases)
    func `it is sent on the device's platform alone, and where others are named it finds no device`(
        road: TestSite.Road
    ) throws {
        let site = try site(road: road)
        for name in ["alice", "bob"] {
            let to = PushMessage.Recipients.one("device:\(try site.register(name))")
            let found = [
                try site.found(PushMessage(to: to, body: "Hi")),
                try site.found(PushMessage(to: to, body: "Hi", platforms: ["fcm"])),
            ]
            #expect(found == [["apns": 1], ["fcm": 0]])
        }
    }

    @Test func `a device that the sender may not send to, and one that is not there, are refused alike`() throws {
        let site = try site()
        let carols = try site.register("carol", handle: TestSite.token(1))
        let handedOut = try site.newID("alice")
        let removed = try site.register("alice", handle: TestSite.token(2))
        #expect(site.call(.delete, "\(Path.register)/\(removed)", as: "alice").status == .ok)
        let bobs = try site.register("bob", handle: TestSite.token(3))
        let limited = try site.sendingToken(#","To":["carol"]"#)
        let rows: [(String, HTTPFields)] = [
            (carols, [:]), (handedOut, [:]), (removed, [:]), ("1-2-1", [:]), ("", [:]), ("a b", [:]),
            (String(repeating: "a", count: 128), [:]), (bobs, limited), ("1-2-1", limited),
        ]
        let answers = rows.map { id, fields in
            site.send(PushMessage(to: .one("device:\(id)"), body: "Hi"), fields: fields)
        }
        let problems = answers.map { Problem($0) }
        #expect(problems.allSatisfy { $0.code == .recipientNotAllowed && $0.field == "To" })
        #expect(Set(answers.map(\.body)).count == 1 && problems[0].detail.contains("(the user's own sendTo)"))
        #expect(site.hub.messages.isEmpty)
    }

    @Test func `a registration at the built-in hub costs no tag more, and one at a hub elsewhere has it`() throws {
        for (road, tags) in [(TestSite.Road.direct, ["username:alice"]), (.wire, ["device:", "username:alice"])] {
            let site = try site(road: road)
            let id = try site.register("alice")
            let stored = try #require(try site.store.hubRegistration(id))
            #expect(stored.tags == tags.map { $0 == "device:" ? $0 + id : $0 })
        }
        // Where there is no room for it.
        let full = try site()
        let id = try full.register("alice", tags: (1...59).map { "t\($0)" })
        #expect(try full.store.hubRegistration(id)?.tags.count == 60)
        #expect(try full.store.hubRegistration(id)?.tags.contains("device:\(id)") == false)
    }

    @Test func `the next user of a name has none of the former one's devices`() throws {
        let site = try site(["*"])
        let id = try site.register("alice")
        try site.change("alice") { $0.removedAt = .init(seconds: site.clock.seconds) }
        try site.addAgain("alice")
        // As long as it is not cleaned up.
        #expect(try site.store.device(id) != nil)
        #expect(site.send(PushMessage(to: .one("device:\(id)"), body: "Hi")).status == .forbidden)
    }
}
