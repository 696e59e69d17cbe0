// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import Foundation
import Glibc
import HTTP
import HTTPTypes
import JSON
import NotificationHub
import Support
import Testing

extension WireTests {
    /// How responders begin, share and end. Each has a site of its own.
    struct LifeStories {
        @Test func `more kept connections than workers starve no client`() async throws {
            try await WireSite.run(WireSite.Options(workers: 2)) { site in
                let alice = try site.addUser("alice")
                let text = site.secrets.make("kept ")
                let id = try site.sendSecure(text, from: alice, to: alice)
                // The second round meets the connections that nginx kept of the first.
                for _ in 1...2 {
                    let answers = together(64) { _ in try site.readSecure(id, as: alice) }
                    #expect(answers.count == 64 && answers.allSatisfy { $0 == text })
                }
                #expect(try site.health()["workers"]?["total"]?.integer == 2)
            }
        }

        @Test func `SIGTERM ends the process when the requests in flight are answered`() async throws {
            // Patience for machines that are busy with something else.
            try await WireSite.run(WireSite.Options(hubTimeout: 60)) { site in
                let alice = try site.importUser("alice")
                let flights = 8
                // The hub sleeps, so that the requests are certainly in flight.
                site.hub.signal(SIGSTOP)
                defer { site.hub.signal(SIGCONT) }
                let wait = start(flights) { _ in try site.call(.post, Path.register, as: alice).status }
                #expect(try site.awaitBusyWorkers(flights))
                site.backend.signal(SIGTERM)
                #expect(Deadline.poll(seconds: 60) { site.backend.log.contains("stopping on signal") })
                site.hub.signal(SIGCONT)
                let statuses = wait()
                #expect(statuses == Array(repeating: .ok, count: flights))
                #expect(site.backend.stop() == 0)
                #expect(!FileManager.default.fileExists(atPath: site.backend.socket))
            }
        }

        @Test func `a restart behind a socket that stays open refuses no client`() async throws {
            try await WireSite.run(WireSite.Options(isHandedSocket: true)) { site in
                let alice = try site.importUser("alice")
                let id = try site.register(alice, handle: site.makeHandle())
                let handle = site.makeHandle()
                let calls: [@Sendable () throws -> Response] = [
                    { try site.put(id, handle: handle, as: alice) },
                    { try site.call(.post, Path.register, as: alice) },
                    { try site.call(.get, Path.register, as: alice) },
                ]
                try Load.run(calls) { load in
                    for _ in 1...3 {
                        #expect(load.isCarried())
                        #expect(site.backend.stop() == 0)
                        try site.backend.start()
                        #expect(load.isCarried())
                    }
                }
            }
        }

        @Test func `what was acknowledged survives a kill`() async throws {
            try await WireSite.run { site in
                let alice = try site.addUser("alice")
                let handle = site.makeHandle()
                let registration = try site.register(alice, handle: handle)
                let text = site.secrets.make("kept ")
                let id = try site.sendSecure(text, from: alice, to: alice)
                let page = WirePage(site)
                try page.logIn(alice)
                site.backend.kill()
                let meanwhile = try site.call(.get, Path.register, as: alice)
                #expect(meanwhile.status == .serviceUnavailable && meanwhile.fields[.retryAfter] != nil)
                #expect(meanwhile.fields[.contentType] == Problem.contentType)
                try site.backend.start()
                #expect(try site.readSecure(id, as: alice) == text)
                #expect(try page.call(.get, Path.session).status == .ok)
                let list = try JSONValue(parsing: site.call(.get, Path.register, as: alice).body).array
                #expect(list?.first?["RegistrationId"]?.string == registration)
            }
        }

        @Test func `what one of two processes wrote the other reads`() async throws {
            try await WireSite.run(WireSite.Options(backends: 2)) { site in
                let alice = try site.addUser("alice")
                for _ in 1...4 {
                    let text = site.secrets.make("shared ")
                    let id = try site.sendSecure(text, from: alice, to: alice)
                    // nginx takes turns, so that each of the two answers some of them.
                    for _ in 1...4 { #expect(try site.readSecure(id, as: alice) == text) }
                }
                let changed = try site.run("user", "passwd", alice.name, input: site.secrets.make("new-") + "\n")
                #expect(changed.status == 0)
                for _ in 1...4 { #expect(try site.call(.get, Path.register, as: alice).status == .unauthorized) }
            }
        }

        @Test func `a session is one for all processes, and its end is too`() async throws {
            try await WireSite.run(WireSite.Options(backends: 2)) { site in
                let alice = try site.addUser("alice")
                func expect(_ status: HTTPResponse.Status, _ page: WirePage) throws {
                    // nginx takes turns, so that each of the two answers some of them.
                    for _ in 1...4 { #expect(try page.call(.get, Path.register).status == status) }
                }
                let (one, other) = (WirePage(site), WirePage(site))
                for page in [one, other] { #expect(try page.logIn(alice).status == .ok) }
                for page in [one, other] { try expect(.ok, page) }
                #expect(try one.call(.delete, Path.session, keepingCookie: true).status == .ok)
                try expect(.unauthorized, one)
                try expect(.ok, other)
                #expect(try one.logIn(alice).status == .ok)
                #expect(
                    try one.call(.delete, Path.session, query: "everywhere=true", keepingCookie: true).status == .ok)
                for page in [one, other] { try expect(.unauthorized, page) }
                #expect(try one.logIn(alice).status == .ok)
                let changed = try site.run("user", "passwd", alice.name, input: site.secrets.make("new-") + "\n")
                #expect(changed.status == 0)
                try expect(.unauthorized, one)
            }
        }

        @Test func `two users who race for one device end with one owner and their tag`() async throws {
            try await WireSite.run(WireSite.Options(backends: 2)) { site in
                let users = [try site.addUser("alice"), try site.addUser("bob")]
                let handle = site.makeHandle()
                let id = try site.register(users[0], handle: handle)
                let registrationID = try #require(RegistrationID(id))
                for _ in 1...12 {
                    let statuses = together(4) { try site.put(id, handle: handle, as: users[$0 % 2]).status.code }
                    #expect(statuses.contains(200))
                    #expect(statuses.allSatisfy { [200, 409, 503].contains($0) }, "\(statuses)")
                    let owners = try users.filter { user in
                        let list = try JSONValue(parsing: site.call(.get, Path.register, as: user).body).array
                        return list?.contains { $0["RegistrationId"]?.string == id } == true
                    }
                    let registration = try #require(try site.hubClient().registration(registrationID))
                    #expect(registration.tagTexts == owners.map { "username:\($0.name)" }, "\(statuses)")
                }
            }
        }
    }
}
