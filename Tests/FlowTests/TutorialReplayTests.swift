// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import NotificationHub
import Testing
import Text

import class System.Lock

/// The tutorials' apps as they are, never updated, against what happens to phones.
struct TutorialReplayTests {
    static let foreignID = "7260336227650468927-4200236381151834034-1"

    /// The tags of the registrations that the hub has of a handle.
    private func tags(_ handle: String, on site: TestSite) throws -> [[String]] {
        try site.hubClient.registrations(channel: handle).map { $0.tagTexts }
    }

    @Test(arguments: TutorialApp.Kind.allCases) func `a new app registers, and at the next log-in it does again`(
        kind: TutorialApp.Kind
    ) throws {
        let site = try TestSite()
        let app = TutorialApp(kind, on: site)
        for _ in 1...2 {
            #expect(try app.logIn("alice", handle: app.handle(1)))
            #expect(try tags(app.handle(1), on: site) == [["username:alice"]])
        }
        #expect(app.statuses == [200, 200, 200])
    }

    @Test(arguments: TutorialApp.Kind.allCases, [foreignID, "old.backend:{42}"])
    func `an app that moved from another backend with its id is registered, and stays so`(
        kind: TutorialApp.Kind, foreignID: String
    ) throws {
        let site = try TestSite()
        let app = TutorialApp(kind, on: site, registrationID: foreignID)
        for number in [1, 1, 2] {
            #expect(try app.logIn("alice", handle: app.handle(number)))
            #expect(try tags(app.handle(number), on: site) == [["username:alice"]])
        }
        #expect(try tags(app.handle(1), on: site).isEmpty)
        #expect(try site.store.devices(owner: "alice").count == 1)
        #expect(app.registrationID == foreignID)
        // What it calls its id ends the registration.
        let path = "/api/register/" + PercentEncoding.encode(foreignID)
        #expect(site.call(.delete, path, as: "alice").status == .ok)
        #expect(try tags(app.handle(2), on: site).isEmpty)
        #expect(try site.store.devices(owner: "alice").isEmpty)
    }

    @Test(arguments: TutorialApp.Kind.allCases) func `an app whose id the hub has given up is registered again`(
        kind: TutorialApp.Kind
    ) throws {
        let givenUp = Lock<Set<String>>([])
        let site = try TestSite(surroundingHub: { hub in
            ClosureResponder { request in
                let isGone = givenUp.withLock { ids in ids.contains { request.path.hasSuffix("/registrations/\($0)") } }
                return request.method == .put && isGone ? Response(status: .gone) : try hub.respond(to: request)
            }
        })
        let app = TutorialApp(kind, on: site)
        #expect(try app.logIn("alice", handle: app.handle(1)))
        for _ in 1...3 {
            for device in try site.store.devices(owner: "alice") {
                givenUp.withLock { _ = $0.insert(device.id) }
                _ = try site.hubClient.delete(try #require(RegistrationID(device.id)))
            }
            #expect(try app.logIn("alice", handle: app.handle(1)))
            #expect(try tags(app.handle(1), on: site) == [["username:alice"]])
            #expect(try site.store.devices(owner: "alice").count == 1)
        }
    }

    @Test(arguments: TutorialApp.Kind.allCases)
    func `a phone that changes hands after its token has changed is each time its present user's alone`(
        kind: TutorialApp.Kind
    ) throws {
        let site = try TestSite()
        let app = TutorialApp(kind, on: site)
        #expect(try app.logIn("alice", handle: app.handle(1)))
        for user in ["bob", "alice", "bob", "bob", "alice"] {
            #expect(try app.logIn(user, handle: app.handle(2)))
            #expect(try tags(app.handle(2), on: site) == [["username:\(user)"]])
        }
        #expect(app.statuses.allSatisfy { $0 == 200 })
    }
}
