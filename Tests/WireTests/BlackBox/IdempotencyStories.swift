// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import Foundation
import Glibc
import HTTP
import HTTPTypes
import JSON
import Support
import Testing

extension WireTests {
    /// Sends with an `Idempotency-Key`, through nginx: made again, done once.
    struct IdempotencyStories {
        @Test func `a send that is made again gets the first one's answer, however its key is written`() throws {
            let site = try sharedSite()
            let (alice, bob) = (try site.addUser("alice"), try site.addUser("bob"))
            let text = site.secrets.make("once ")
            let first = try site.sendKeyed("\"\(text)\"", from: alice, to: bob, key: "key-1")
            #expect(first.status == .ok && first.fields[.idempotencyReplayed] == nil)
            for key in ["key-1", #""key-1""#] {
                let again = try site.sendKeyed("\"\(text)\"", from: alice, to: bob, key: key)
                #expect(again.status == .ok && again.fields[.idempotencyReplayed] == "true" && again.body == first.body)
            }
            #expect(try site.secretIDs(of: bob) == [SendOutcome(first).id])
            let other = try site.sendKeyed("\"another\"", from: alice, to: bob, key: "key-1")
            #expect(other.status == .conflict && Problem(other).field == "Idempotency-Key")
            let none = try site.sendKeyed("\"another\"", from: alice, to: bob, key: "no key")
            #expect(none.status == .badRequest && Problem(none).field == "Idempotency-Key")
        }

        @Test func `of many who send the same at once to two responders one is done, and one only`() async throws {
            try await WireSite.run(WireSite.Options(backends: 2)) { site in
                let (alice, bob) = (try site.importUser("alice"), try site.importUser("bob"))
                let text = site.secrets.make("once ")
                let rounds = 6
                for round in 1...rounds {
                    let answers = together(8) { _ in
                        try site.sendKeyed("\"\(text)\"", from: alice, to: bob, key: "round-\(round)")
                    }
                    #expect(answers.count { $0.status == .ok && $0.fields[.idempotencyReplayed] == nil } == 1)
                    #expect(answers.allSatisfy { $0.status == .ok || $0.status == .conflict })
                    #expect(try site.secretIDs(of: bob).count == round)
                }
                // Both were asked.
                for backend in site.backends { #expect(backend.log.contains("method=POST")) }
                #expect(try site.sendsAtHub() == 4 * rounds)
            }
        }

        @Test func `what a responder was killed at is not done again, and the answer says so`() async throws {
            try await WireSite.run(WireSite.Options(hubTimeout: 60)) { site in
                let (alice, bob) = (try site.addUser("alice"), try site.addUser("bob"))
                let body = "\"\(site.secrets.make("once "))\""
                site.hub.signal(SIGSTOP)
                let wait = start(1) { _ in
                    try site.sendKeyed(body, from: alice, to: bob, key: "key-1").status
                }
                // From now on it waits for the hub, which does not answer.
                #expect(try Deadline.poll(seconds: 60) { try !site.secretIDs(of: bob).isEmpty })
                site.backend.kill()
                site.hub.signal(SIGCONT)
                #expect(wait() == [.serviceUnavailable])
                try site.backend.start()
                let again = try site.sendKeyed(body, from: alice, to: bob, key: "key-1")
                #expect(again.status == .conflict && again.fields[.retryAfter] == "1")
                #expect(try site.secretIDs(of: bob).count == 1)
                #expect(try site.sendKeyed(body, from: alice, to: bob, key: "key-2").status == .ok)
                #expect(try site.secretIDs(of: bob).count == 2)
            }
        }
    }
}

extension ServedSite {
    /// Of the secrets that wait for a user, newest first.
    func secretIDs(of user: WireUser) throws -> [Int32] {
        let list = try JSONValue(parsing: call(.get, Path.notifications, as: user).body).array
        return list?.compactMap { $0["Id"]?.integer.flatMap { Int32(exactly: $0) } } ?? []
    }
}
