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

/// What users see of two hosts on one database: one site.
@Suite(.enabled(if: Program.nginx != nil, "nginx is not installed; script/packages test installs it"))
struct TwinStories {
    @Test func `what one host was told the other knows at once`() throws {
        try TwinHosts.run { twins in
            let (one, other) = (twins.first, twins.second)
            let alice = try one.addUser("alice")
            let bob = try other.addUser("bob")
            // A device: registered here, listed there, taken over by the user who logs in on it there.
            let handle = one.makeHandle()
            let id = try one.register(alice, handle: handle)
            #expect(try listed(other, alice) == [id])
            #expect(try other.call(.delete, "\(Path.register)/\(id)", as: bob).status == .forbidden)
            #expect(try other.put(id, handle: handle, as: bob).status == .ok)
            #expect(try listed(one, alice) == [] && listed(one, bob) == [id])
            #expect(try one.call(.delete, "\(Path.register)/\(id)", as: bob).status == .ok)
            #expect(try other.call(.delete, "\(Path.register)/\(id)", as: bob).status == .ok)
            // A secret: left here, read there, by its owner alone.
            let text = twins.secrets.make("secret ")
            let secret = try one.sendSecure(text, from: alice, to: bob)
            #expect(try other.readSecure(secret, as: alice) == nil)
            #expect(try other.readSecure(secret, as: bob) == text)
            let again = try one.call(.get, "\(Path.notifications)/\(secret)", as: bob)
            #expect(try JSONValue(parsing: again.body)["Read"]?.bool == true)
            // A user whose password is changed here.
            let changed = try one.run("user", "passwd", bob.name, input: twins.secrets.make("new-") + "\n")
            #expect(changed.status == 0)
            #expect(try other.call(.get, Path.register, as: bob).status == .unauthorized)
        }
    }

    @Test func `a log-in by cookie holds on both hosts, and ends on both`() throws {
        try TwinHosts.run { twins in
            let alice = try twins.first.addUser("alice")
            let (here, there) = (WirePage(twins.first), WirePage(twins.second))
            try here.logIn(alice)
            there.cookie = here.cookie
            #expect(try there.call(.get, Path.register).status == .ok)
            #expect(try there.call(.delete, Path.session, keepingCookie: true).status == .ok)
            #expect(try here.call(.get, Path.register).status == .unauthorized)
        }
    }

    @Test func `of many who make the same request at once on both hosts one is done, and one only`() throws {
        try TwinHosts.run { twins in
            let (alice, bob) = (try twins.first.addUser("alice"), try twins.second.addUser("bob"))
            let body = "\"\(twins.secrets.make("once "))\""
            let first = try twins.first.sendKeyed(body, from: alice, to: bob, key: "key")
            #expect(first.status == .ok)
            let again = try twins.second.sendKeyed(body, from: alice, to: bob, key: "key")
            #expect(again.fields[.idempotencyReplayed] == "true" && again.body == first.body)
            #expect(try twins.second.sendKeyed("\"other\"", from: alice, to: bob, key: "key").status == .conflict)
            for round in 1...6 {
                let hosts = twins.both
                let answers = together(8) { number in
                    try hosts[number % 2].sendKeyed(body, from: alice, to: bob, key: "round-\(round)")
                }
                #expect(answers.count { $0.status == .ok && $0.fields[.idempotencyReplayed] == nil } == 1)
                #expect(answers.allSatisfy { $0.status == .ok || $0.status == .conflict })
                for host in hosts { #expect(try host.secretIDs(of: bob).count == round + 1) }
            }
        }
    }

    @Test func `a queued send is delivered once, whichever host took it and whichever delivers`() throws {
        try TwinHosts.run { twins in
            let alice = try twins.first.addUser("alice")
            let endpoints = try twins.both.flatMap { host in try (1...4).map { _ in try host.registerBrowser(alice) } }
            // Nothing listens where browsers are pushed to, so that all of it waits.
            for host in twins.both { try host.push(twins.secrets.make("waits "), from: alice, to: alice) }
            // One of the two holds the lease; when it ends the other has to take it.
            #expect(twins.first.backend.stop() == 0)
            try twins.pushes.start()
            #expect(Deadline.poll(seconds: 120) { endpoints.allSatisfy { twins.pushes.count($0) >= 2 } })
            try twins.first.backend.start()
            // A process that ends does not wait without end for the answers of the push service that are under way.
            #expect(Deadline.poll(seconds: 60) { (try? queued(twins)) == "0" })
            #expect(twins.second.backend.stop() == 0)
            try twins.first.push(twins.secrets.make("goes "), from: alice, to: alice)
            #expect(twins.pushes.haveCome(Dictionary(uniqueKeysWithValues: endpoints.map { ($0, 3) })))
        }
    }

    // Here and below two delivery leases run out, 15 s each.
    @Test(.onThreadOfItsOwn)
    func `when the deliverer is killed the other host goes on, and no device gets a message twice`() throws {
        try TwinHosts.run { twins in
            let alice = try twins.first.addUser("alice")
            let endpoints = try (1...8).map { _ in try twins.first.registerBrowser(alice) }
            try twins.pushes.start()
            for (killed, other) in [(twins.first, twins.second), (twins.second, twins.first)] {
                let before = endpoints.map { twins.pushes.count($0) }
                for _ in 1...5 { try other.push(twins.secrets.make("before "), from: alice, to: alice) }
                killed.backend.kill()
                try other.push(twins.secrets.make("after "), from: alice, to: alice)
                // What was under way in the one that was killed may be lost, what came after may not.
                #expect(
                    Deadline.poll(seconds: 60) { zip(endpoints, before).allSatisfy { twins.pushes.count($0) > $1 } })
                #expect(Deadline.poll(seconds: 120) { (try? queued(twins)) == "0" })
                #expect(zip(endpoints, before).allSatisfy { twins.pushes.count($0) <= $1 + 6 })
                try killed.backend.start()
            }
        }
    }

    /// How many messages wait.
    private func queued(_ twins: TwinHosts) throws -> String {
        try twins.server.run("SELECT count(*) FROM app_backend.hub_queue", url: twins.url)
    }

    @Test(.onThreadOfItsOwn)
    func `a host that was stopped for longer than its lease delivers nothing that the other has delivered`() throws {
        try TwinHosts.run { twins in
            let alice = try twins.first.addUser("alice")
            let endpoint = try twins.first.registerBrowser(alice)
            try twins.pushes.start()
            // The holder of the lease is stopped in the middle of its work; the other has to take it over.
            for (stopped, awake) in [(twins.first, twins.second), (twins.second, twins.first)] {
                let before = twins.pushes.count(endpoint)
                stopped.backend.signal(SIGSTOP)
                for _ in 1...5 { try awake.push(twins.secrets.make("on "), from: alice, to: alice) }
                #expect(Deadline.poll(seconds: 60) { twins.pushes.count(endpoint) >= before + 5 })
                stopped.backend.signal(SIGCONT)
                try stopped.push(twins.secrets.make("again "), from: alice, to: alice)
                #expect(twins.pushes.haveCome([endpoint: before + 6]))
            }
        }
    }

    @Test func `without its database a host answers 503 and says so, and goes on when it is back`() throws {
        let server = try PostgresServer()
        try TwinHosts.run(server) { twins in
            let alice = try twins.first.addUser("alice")
            let text = twins.secrets.make("kept ")
            let id = try twins.first.sendSecure(text, from: alice, to: alice)
            try server.killAll()
            for host in twins.both {
                let answer = try host.call(.get, "\(Path.notifications)/\(id)", as: alice)
                #expect(answer.status == .serviceUnavailable && answer.fields[.retryAfter] != nil)
                let health = try host.call(.get, Path.health)
                #expect(health.status == .serviceUnavailable)
                #expect(try JSONValue(parsing: health.body)["store"]?.string == "unavailable")
            }
            try server.start()
            for host in twins.both {
                #expect(Deadline.poll(seconds: 60) { (try? host.call(.get, Path.health))?.status == .ok })
                #expect(try host.readSecure(id, as: alice) == text)
            }
        }
    }

    private func listed(_ host: TwinHosts.Host, _ user: WireUser) throws -> [String] {
        let list = try JSONValue(parsing: host.call(.get, Path.register, as: user).body).array ?? []
        return list.compactMap { $0["RegistrationId"]?.string }
    }
}
