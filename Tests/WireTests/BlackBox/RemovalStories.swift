// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import Foundation
import Glibc
import HTTPTypes
import JSON
import Support
import Testing

extension WireTests {
    /// `user remove` and `user change` beside a service that runs, and what the service goes on with.
    struct RemovalStories {
        /// Under the same name as another one, with a password of their own.
        private func addAgain(_ user: WireUser, _ site: WireSite) throws -> WireUser {
            let next = WireUser(name: user.name, password: site.secrets.make("next-"))
            site.secrets.add(next.authorization)
            #expect(try site.run("user", "add", next.name, input: next.password + "\n").status == 0)
            return next
        }

        /// Registrations that are still to be removed, of former users of the name.
        private func pending(_ name: String, _ site: WireSite) throws -> Int? {
            let shown = try site.run("user", "show", "--json", name)
            guard shown.status == 0 else { return nil }
            return try JSONValue(parsing: Array(shown.output.utf8))["pending"]?["registrations"]?.integer
        }

        @Test func `a removed user leaves nothing to the next user of the name`() throws {
            let site = try sharedSite()
            let (alice, bob) = (try site.addUser("alice"), try site.addUser("bob"))
            let text = site.secrets.make("for the old bob only ")
            let secret = try site.sendSecure(text, from: alice, to: bob)
            let id = try site.register(bob, handle: site.makeHandle())
            let shown = try site.run("user", "show", bob.name)
            #expect(shown.output.contains("messages waiting: 1") && shown.output.contains(id), "\(shown.output)")
            let removed = try site.run("user", "remove", bob.name)
            #expect(removed.status == 0 && removed.output == "removed \(bob.name): 1 device, 1 secret\n")
            #expect(try site.run("user", "show", bob.name).output.contains("removed: "))
            #expect(try site.call(.get, Path.register, as: bob).status == .unauthorized)
            let next = try addAgain(bob, site)
            #expect(try site.readSecure(secret, as: next) == nil)
            #expect(try JSONValue(parsing: site.call(.get, Path.register, as: next).body).array?.isEmpty == true)
            #expect(try site.call(.get, Path.register, as: bob).status == .unauthorized)
            // It is a user like any other.
            let mine = try site.sendSecure("mine", from: alice, to: next)
            #expect(try site.readSecure(mine, as: next) == "mine")
        }

        @Test func `a device loses the tags that its user may not claim any more`() throws {
            let site = try sharedSite()
            let bob = try site.addUser("bob")
            let id = try JSONValue(parsing: site.call(.post, Path.register, as: bob).body).string ?? ""
            let body = DeviceRegistration(platform: "apns", handle: site.makeHandle(), tags: ["news", "sports"]).json
            let put = try site.call(
                .put, "\(Path.register)/\(id)", as: bob, body: String(decoding: body, as: UTF8.self))
            #expect(put.status == .ok)
            let changed = try site.run("user", "change", bob.name, "--tag", "news")
            #expect(changed.output == "changed \(bob.name): 1 device has lost tags\n" && changed.status == 0)
            let list = try JSONValue(parsing: site.call(.get, Path.register, as: bob).body).array
            #expect(list?.first?["Tags"]?.array?.compactMap(\.string) == ["news"])
        }

        @Test func `the service goes on where a command was killed, and where the hub was away`() async throws {
            try await WireSite.run { site in
                let impatient = try site.configurationOfLittlePatience()
                let (bob, carol) = (try site.addUser("bob"), try site.addUser("carol"))
                for user in [bob, carol] { _ = try site.register(user, handle: site.makeHandle()) }
                let secret = try site.sendSecure("old", from: carol, to: bob)
                site.hub.signal(SIGSTOP)
                defer { site.hub.signal(SIGCONT) }
                let refused = try Program.run(
                    Program.appBackend, ["user", "remove", carol.name, "--config", impatient])
                #expect(refused.status == 4, "\(refused.errors)")
                #expect(refused.errors.contains("1 registration could not be removed at the hub: hub: no answer"))
                // It waits for the hub when it is killed.
                let command = try ChildProcess(
                    Program.appBackend, ["user", "remove", bob.name, "--config", impatient])
                #expect(
                    try Deadline.poll(seconds: 60) {
                        try site.call(.get, Path.register, as: bob).status == .unauthorized
                    })
                command.signal(SIGKILL)
                #expect(command.wait(seconds: 60) != nil)
                let next = try addAgain(bob, site)
                #expect(try site.readSecure(secret, as: next) == nil)
                #expect(try JSONValue(parsing: site.call(.get, Path.register, as: next).body).array?.isEmpty == true)
                #expect(try pending(bob.name, site) == 1 && pending(carol.name, site) == 1)
                site.hub.signal(SIGCONT)
                #expect(
                    try Deadline.poll(seconds: 120) {
                        try pending(bob.name, site) == 0 && pending(carol.name, site) == 0
                    })
            }
        }
    }
}
