// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import Foundation
import HTTPTypes
import JSON
import Testing

extension WireTests {
    /// `session`, beside a server that is running.
    struct SessionCommandStories {
        @Test func `a user's sessions are listed, one is ended, and all of them`() throws {
            let site = try sharedSite()
            let (alice, bob) = (try site.addUser("alice"), try site.addUser("bob"))
            let pages = [WirePage(site), WirePage(site), WirePage(site)]
            for page in pages { try page.logIn(alice) }
            func statuses() throws -> [Int] { try pages.map { try $0.call(.get, Path.session).status.code } }
            let sessions = try site.list("session", "list", alice.name)
            let ids = sessions.compactMap { $0["id"]?.string }
            #expect(ids.count == 3 && Set(ids).count == 3 && sessions.allSatisfy { $0["expiresAt"]?.string != nil })
            let list = try site.run("session", "list", alice.name).output
            for id in ids {
                #expect(id.wholeMatch(of: /[0-9a-f]{16}/) != nil && list.contains("\(id)  since 20"))
                // What is listed does not log in.
                let cookie = "__Host-app_backend=\(id)"
                #expect(try site.call(.get, Path.session, fields: [.cookie: cookie]).status == .unauthorized)
            }
            #expect(try site.run("session", "end", bob.name, ids[0]).status == 1)
            #expect(try statuses() == [200, 200, 200])
            #expect(try site.run("session", "end", alice.name, ids[0]).output == "ended \(ids[0])\n")
            #expect(try statuses().sorted() == [200, 200, 401])
            #expect(try site.run("session", "end", alice.name, ids[0]).status == 1)
            let all = try site.run("session", "end", alice.name, "--all")
            #expect(all.output == "ended 2 sessions of \(alice.name)\n")
            #expect(try statuses() == [401, 401, 401])
            #expect(try site.list("session", "list", alice.name).isEmpty)
            // The password is as good as before.
            #expect(try pages[0].logIn(alice).status == .ok)
            for wrong in [[alice.name], [alice.name, ids[0], "--all"]] {
                #expect(try site.run(["session", "end"] + wrong, input: "").status == 64)
            }
        }

        @Test func `sessions of a former password are not listed`() throws {
            let site = try sharedSite()
            let alice = try site.addUser("alice")
            let page = WirePage(site)
            try page.logIn(alice)
            #expect(try site.list("session", "list", alice.name).count == 1)
            #expect(try site.run("user", "passwd", alice.name, input: site.secrets.make("new-") + "\n").status == 0)
            #expect(try page.call(.get, Path.session).status == .unauthorized)
            #expect(try site.list("session", "list", alice.name).isEmpty)
        }
    }
}
