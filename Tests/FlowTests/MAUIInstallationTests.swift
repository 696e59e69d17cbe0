// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import HTTP
import HTTPTypes
import JSON
import NotificationHub
import Store
import Testing
import Text

/// Installations of the tutorial for .NET MAUI, whose apps all have one key.
struct MAUIInstallationTests {
    private let site: TestSite
    private let key: String

    init() throws {
        site = try TestSite()
        key = try site.appToken()
    }

    private func devices(_ user: String = "alice") throws -> [DeviceRecord] { try site.store.devices(owner: user) }

    private func registrations(_ app: MAUIApp) throws -> [RegistrationDescription] {
        try site.hubClient.registrations(channel: app.token)
    }

    @Test(arguments: MAUIApp.Kind.allCases)
    func `the app registers, changes its token and its tags, and takes itself off`(kind: MAUIApp.Kind) throws {
        let app = MAUIApp(kind, on: site, key: key)
        app.register()
        let first = try #require(try registrations(app).first)
        #expect(first.template == nil && first.tagTexts == ["username:alice"])
        #expect(first.handle.platform == (kind == .ios ? .apns : .fcm))
        let list = try #require(try JSONValue(parsing: site.call(.get, Path.register, as: "alice").body).array)
        #expect(list.map { $0["InstallationId"]?.string } == [app.installationID])
        #expect(list.map { $0["RegistrationId"]?.string } == [first.id?.description])

        app.register(tags: ["news", "sport"])
        app.receive(token: 2)
        let second = try #require(try registrations(app).first)
        #expect(second.id == first.id && second.tagTexts == ["news", "sport", "username:alice"])
        #expect(try site.hubClient.registrations(channel: MAUIApp.token(kind, 1)).isEmpty)
        #expect(try devices().count == 1)

        app.deregister()
        #expect(try devices().isEmpty && registrations(app).isEmpty)
        #expect(app.statuses == [200, 200, 200, 200])
        // It is no error to take off what is not there.
        app.register()
        app.deregister()
        #expect(delete(app.installationID) == 200)
    }

    private func delete(_ id: String, as user: String = "alice") -> Int {
        site.call(.delete, "/api/notifications/installations/\(PercentEncoding.encode(id))", as: user).status.code
    }

    @Test func `an unchanged call writes nothing, once a day excepted`() throws {
        let site = try TestSite(road: .direct)
        let app = MAUIApp(.android, on: site, key: try site.appToken())
        func versions(afterSeconds seconds: Int64) throws -> [Int] {
            site.clock.advance(seconds)
            app.register(tags: ["news"])
            let device = try #require(try site.store.devices(owner: "alice").first)
            let registration = try #require(try site.store.hubRegistration(device.id))
            return [device.version, registration.version]
        }
        let first = try versions(afterSeconds: 0)
        #expect(try versions(afterSeconds: 0) == first)
        #expect(try versions(afterSeconds: 86_400) == first)
        #expect(try versions(afterSeconds: 1) == first.map { $0 + 1 })
        #expect(app.statuses == [200, 200, 200, 200])
    }

    @Test func `two devices of one key are two registrations, and a device that lost its id is one`() throws {
        MAUIApp(.ios, on: site, key: key).register()
        MAUIApp(.android, on: site, key: key).register()
        #expect(try devices().count == 2)
        // The app was installed again, and the token is the same.
        MAUIApp(.android, on: site, key: key, installationID: "another").register()
        #expect(Set(try devices().map(\.installationID)) == ["E621E1F8-C36C-495A-93FC-0C247A3E6E5F", "another"])
    }

    @Test func `the same id of two users is a registration for each, and neither ends the other's`() throws {
        let bobs = try site.appToken(of: "bob")
        MAUIApp(.ios, on: site, key: key, installationID: "one", token: 1).register()
        MAUIApp(.ios, on: site, key: bobs, installationID: "one", token: 2).register()
        #expect(delete("one", as: "bob") == 200)
        #expect(delete("one", as: "bob") == 200)
        #expect(try devices().count == 1 && devices("bob").isEmpty)
        // The telephone with its token is now bob's.
        MAUIApp(.ios, on: site, key: bobs, installationID: "one", token: 1).register()
        #expect(try devices().isEmpty && devices("bob").count == 1)
        #expect(try site.hubClient.registrations(channel: TestSite.token(1)).count == 1)
    }

    @Test func `an id that is a registration's is a name like any other`() throws {
        let id = try site.register("bob", handle: TestSite.token(7))
        let before = try site.store.device(id)
        MAUIApp(.ios, on: site, key: key, installationID: id, token: 1).register()
        #expect(try site.store.device(id) == before)
        let own = try #require(try devices().first)
        #expect(own.id != id && own.installationID == id)
        #expect(delete(id) == 200)
        #expect(try site.store.device(id) == before && devices().isEmpty)
    }

    @Test func `the other calls know an installation by its id, and it them`() throws {
        let app = MAUIApp(.ios, on: site, key: key, installationID: "one")
        app.register()
        #expect(site.put("one", as: "alice", handle: TestSite.token(2)).status == .ok)
        var device = try #require(try devices().first)
        #expect(try devices().count == 1 && device.handle == TestSite.token(2) && device.installationID == nil)
        app.register()
        device = try #require(try devices().first)
        #expect(try devices().count == 1 && device.handle == TestSite.token(1) && device.installationID == "one")
        try site.expectAgreement(on: device.id)
        #expect(site.call(.delete, "/api/register/one", as: "alice").status == .ok)
        #expect(try devices().isEmpty)
    }

    @Test func `the older call with the same id has a registration of its own, with a template`() throws {
        let older = #"{"platform":"ios","instId":"one","deviceToken":"\#(TestSite.token(1))"}"#
        let app = MAUIApp(.ios, on: site, key: key, installationID: "one")
        for _ in 1...2 {
            #expect(site.call(.post, Path.register, as: "alice", body: older).status == .ok)
            app.register()
        }
        let kinds = try registrations(app).map { $0.template != nil }
        #expect(kinds.sorted { !$0 && $1 } == [false, true])
        #expect(delete("one") == 200)
        #expect(try devices().map(\.hasTemplate) == [true])
        #expect(site.call(.post, Path.register, as: "alice", body: older).status == .ok)
        #expect(try devices().count == 1)
    }

    @Test func `a tag that is taken from the user is refused, and leaves the installation`() throws {
        let app = MAUIApp(.ios, on: site, key: key)
        app.register(tags: ["news"])
        try site.change("alice") { $0.tags = ["sport"] }
        app.register(tags: ["news"])
        app.register(tags: ["sport"])
        #expect(app.statuses == [200, 403, 200])
        #expect(try devices().map(\.tags) == [["sport"]])
    }

    @Test func `registrations of one id that were made at the same moment become one`() throws {
        for number in 1...2 {
            let record = DeviceRecord(
                id: "\(number)-1-1", owner: "alice", platform: "apns", handle: TestSite.token(number),
                installationID: "one",
                alias: "one", updatedAt: Timestamp(seconds: site.clock.seconds))
            _ = try site.store.putDevice(record)
            _ = try site.hubClient.createOrUpdate(
                RegistrationDescription(
                    id: RegistrationID(record.id), tags: [], handle: try .apns(TestSite.token(number))))
        }
        MAUIApp(.ios, on: site, key: key, installationID: "one", token: 3).register()
        #expect(try devices().map(\.handle) == [TestSite.token(3)])
        for number in 1...2 { #expect(try site.hubClient.registrations(channel: TestSite.token(number)).isEmpty) }
    }

    @Test(arguments: ["<__NSConcreteUUID 0x600003a0> E621E1F8", "ä%2F?#", String(repeating: "a", count: 256)])
    func `an id of nearly any characters is taken back by its path`(id: String) throws {
        let app = MAUIApp(.ios, on: site, key: key, installationID: id)
        app.register()
        #expect(app.statuses == [200])
        #expect(delete(id) == 200)
        #expect(try devices().isEmpty)
    }

    @Test func `installations count as registrations do, and one user has as many as devices`() throws {
        let limited = try TestSite { $0.limits.registrations = UserLimits.Rate(perMinute: 1, atOnce: 2) }
        let app = MAUIApp(.ios, on: limited, key: try limited.appToken())
        app.register()
        app.deregister()
        app.register()
        #expect(app.statuses == [200, 200, 429])
        let apps = (0...100).map { MAUIApp(.ios, on: site, key: key, installationID: "\($0)", token: $0) }
        apps.forEach { $0.register() }
        #expect(apps.allSatisfy { $0.statuses == [200] } == false && apps[100].statuses == [429])
        #expect(try devices().count == 100)
        apps[99].receive(token: 200)
        #expect(apps[99].statuses == [200, 200])
        apps[0].deregister()
        apps[100].register()
        #expect(apps[100].statuses == [429, 200])
    }

    @Test func `a message to its user reaches it, and it is no device of the older call`() throws {
        let app = MAUIApp(.android, on: site, key: key)
        app.register()
        let answer = site.call(
            .post, Path.notifications, query: "pns=fcm&to_tag=alice", as: "bob", body: #""Hello""#)
        let outcome = try SendOutcome(answer)
        #expect(outcome.outcomes.map(\.platform) == ["fcm"])
        #expect(try site.devices(of: outcome, on: "fcm") == 1)
    }
}
