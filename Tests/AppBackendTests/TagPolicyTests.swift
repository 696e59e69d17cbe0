// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import Foundation
import NotificationHub
import Store
import Testing

@testable import AppBackend

struct TagPolicyTests {
    private func user(tags: [String]? = nil, sendTo: [String]? = nil) -> User {
        User(name: "alice", passwordHash: "", tags: tags, sendTo: sendTo)
    }

    private func status(_ tag: String, _ patterns: [String]) -> Int? {
        do throws(Problem) {
            _ = try TagPolicy().rights(of: user(tags: patterns)).claim([tag])
            return nil
        } catch {
            #expect(error.field == "Tags")
            return error.status.code
        }
    }

    @Test(arguments: [
        ("news", ["*"]), ("news", ["news"]), ("NEWS", ["news"]), ("team:red", ["team:*"]), ("a.b.c", ["a.*.c"]),
        ("from:bob", ["from:bob"]), ("from:bob", ["from:*"]), ("FROM:bob", ["From:b*"]),
    ])
    func `a tag that a pattern covers may be claimed`(tag: String, patterns: [String]) {
        #expect(status(tag, patterns) == nil)
    }

    @Test(
        arguments: [
            ("news", []), ("news", ["team:*"]), ("newsx", ["news"]), ("xnews", ["news"]), ("from:bob", ["*"]),
            ("FROM:bob", ["*"]), ("from:bob", ["f*"]), ("username:bob", ["*"]), ("username:bob", ["username:*"]),
            ("username:alice", ["*"]), ("UserName:bob", ["*"]), ("uſername:bob", ["*"]), ("username:", ["*"]),
            ("app:com.example.chat", ["*"]), ("APP:x", ["app:*"]), ("app:", ["*"]), ("role:x", ["role:*"]),
            ("ROLE:", ["*"]), ("device:1-2-1", ["device:*"]), ("Device:x", ["*"]),
        ] as [(String, [String])])
    func `a reserved or uncovered tag may not be claimed`(tag: String, patterns: [String]) {
        #expect(status(tag, patterns) == 403)
    }

    @Test(arguments: ["", "a b", "a,b", "a||b", "$InstallationId:{x}", "(a)", String(repeating: "x", count: 121)])
    func `an illegal tag is a bad request`(tag: String) {
        #expect(status(tag, ["*"]) == 400)
    }

    @Test func `a tag that is claimed twice is claimed once`() throws {
        let tags = try TagPolicy().rights(of: nil).claim(["news", "News", "news"])
        #expect(tags.map(\.description) == ["news"])
    }

    @Test func `a user who may claim nothing keeps the app's tag, and has those of their roles`() {
        var user = user(tags: [])
        user.roles = ["b", "gone", "a"]
        let policy = TagPolicy(roles: [Role(name: "a"), Role(name: "b"), Role(name: "c")])
        let settled = policy.rights(of: user).settled(["news", "app:x", "role:c", "role:a", "device:1-2-1"])
        #expect(settled == ["app:x", "role:a", "role:b"])
    }

    @Test(
        arguments: [
            (["*"], "bob", true), (["bob"], "bob", true), (["b*"], "bob", true), ([], "bob", false),
            (["carol"], "bob", false), ([], "alice", true),
        ] as [([String], String, Bool)])
    func `the policy says whom a user may send to, and always allows the user themselves`(
        patterns: [String], recipient: String, isAllowed: Bool
    ) throws {
        let recipient = try #require(UserName(recipient))
        let mayThe = TagPolicy().rights(of: user(sendTo: patterns)).maySend(to: recipient, sender: "alice")
        #expect(mayThe == isAllowed)
    }

    /// On a thread of its own: a time limit of the test would also count how long the test waits for one.
    @Test func `a pattern of many stars takes no exponential time`() {
        let isRefused = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let pattern = String(repeating: "*a", count: 50)
            if !TagPolicy.matches(String(repeating: "a", count: 49) + "b", pattern: pattern) { isRefused.signal() }
        }
        #expect(isRefused.wait(timeout: .now() + 120) == .success)
    }
}
