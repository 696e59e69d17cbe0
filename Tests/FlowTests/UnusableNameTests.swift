// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import HTTP
import HTTPTypes
import JSON
import Store
import Testing
import Text

/// Names and ids that no path can have, or that commands take for options. All makers refuse them, because no one could show,
/// change or remove such a user or installation afterwards.
struct UnusableNameTests {
    private static let names = [".", "..", "-", "-x", "--help"]

    private let site: TestSite

    init() throws {
        site = try TestSite(
            users: ["alice", "root"], policy: TagPolicy(roles: [Role(name: "admin", administers: true)]),
            adjusting: { $0.authenticationMethods = [.password, .session, .webServer] })
        try site.change("root") { $0.roles = ["admin"] }
    }

    private var now: @Sendable () -> Timestamp { { [clock = site.clock] in Timestamp(seconds: clock.seconds) } }

    private var administration: UserAdministration { UserAdministration(store: site.store, now: now) }

    @Test(arguments: names)
    func `no way makes a user of such a name`(name: String) throws {
        // The commands `user add`, `user import-htpasswd` and `init`.
        #expect(UserName(new: name) == nil)
        #expect(throws: AdministrationError.badName) { try UserAdministration.checked(name) }
        #expect(throws: AdministrationError.badName) { try administration.add(name, passwordHash: "x") }
        let answer = try site.page(of: "root").call(
            .post, "/api/admin/users", body: #"{"UserName":"\#(name)","Password":"secret"}"#)
        #expect(answer.status == .badRequest && Problem(answer).field == "UserName")
        #expect(try site.store.users().map(\.name) == ["alice", "root"])
        // What the web server, or a provider of identities, calls a user; and the tutorial's own check.
        _ = try site.store.putUser(User(name: name, passwordHash: TestSite.passwordHash(of: "alice")))
        var request = Request(method: .get, authority: "backend.test", path: Path.register, id: "test")
        request.authenticatedUser = name
        #expect(site.backend.respond(to: request).status == .unauthorized)
        request.authenticatedUser = "alice"
        #expect(site.backend.respond(to: request).status == .ok)
        let handler = AuthenticationTestHandler(store: site.store, now: now)
        let credentials = try #require(BasicCredentials(name: name, password: name))
        #expect(try handler.authenticate(credentials, of: request) == nil)
    }

    @Test(arguments: names)
    func `a user of before who has such a name is found and removed`(name: String) throws {
        _ = try site.store.putUser(User(name: name, passwordHash: "x"))
        #expect(try administration.existing(name).name == name)
        _ = try administration.remove(name, by: site.upkeep())
        #expect(throws: AdministrationError.noUser(name)) { try administration.existing(name) }
    }

    @Test(arguments: ["QUJD/w==", "A/B", "a//b", "/", ".", "..", "a\u{1}b", "\u{7F}", "a\u{85}"])
    func `no way makes an installation of such an id`(id: String) throws {
        var members = JSONWriter.object { json in
            json.member("installationId", id)
            json.member("platform", "apns")
            json.member("pushChannel", TestSite.token(1))
        }
        let installed = site.call(.put, Path.installations, as: "alice", body: members.text)
        #expect(installed.status == .badRequest && Problem(installed).field == "installationId")
        members = JSONWriter.object { json in
            json.member("Platform", "apns")
            json.member("Handle", TestSite.token(1))
        }
        let path = Path.register + "/" + PercentEncoding.encode(id)
        #expect(site.call(.put, path, as: "alice", body: members.text).status == .gone)
        #expect(try site.store.devices(owner: "alice").isEmpty)
    }

    @Test(arguments: ["...", ".a", "a.", "A+B==", "a b", "a%2Fb", "\\", "é"])
    func `what a path can have is taken, and taken back`(id: String) throws {
        let body = JSONWriter.object { json in
            json.member("installationId", id)
            json.member("platform", "apns")
            json.member("pushChannel", TestSite.token(1))
        }
        #expect(site.call(.put, Path.installations, as: "alice", body: body.text).status == .ok)
        #expect(try site.store.devices(owner: "alice").count == 1)
        let path = Path.installations + "/" + PercentEncoding.encode(id)
        #expect(site.call(.delete, path, as: "alice").status == .ok)
        #expect(try site.store.devices(owner: "alice").isEmpty)
    }
}
