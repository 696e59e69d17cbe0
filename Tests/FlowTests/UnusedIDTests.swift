// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTPTypes
import JSON
import Store
import Testing
import Text

/// Registration ids that were handed out and never used.
struct UnusedIDTests {
    private func newID(_ site: TestSite, as user: String = "alice") throws -> String {
        let answer = site.call(.post, "/api/register", as: user)
        guard answer.status == .ok else { throw Problem(answer) }
        return try #require(try JSONValue(parsing: answer.body).string)
    }

    private func use(_ id: String, _ site: TestSite, as user: String = "alice") -> HTTPResponse.Status {
        let body = DeviceRegistration(platform: "apns", handle: TestSite.token(1), tags: []).json
        return site.call(.put, "/api/register/\(id)", as: user, body: String(decoding: body, as: UTF8.self)).status
    }

    private func sweep(_ site: TestSite) throws {
        while try !site.store.sweep(budget: 1_000, now: Timestamp(seconds: site.clock.seconds)).finishedRound {}
    }

    @Test func `a hundred ids that were never used lock their owner out of nothing`() throws {
        let site = try TestSite()
        let used = try site.register("alice", handle: TestSite.token(9))
        var ids: [String] = []
        for _ in 0..<120 {
            ids.append(try newID(site))
            site.clock.advance(1)
        }
        // The oldest gave way; what is in use did not.
        #expect(try site.store.device(ids[0]) == nil)
        #expect(use(ids[119], site) == .ok)
        let list = try JSONValue(parsing: site.call(.get, "/api/register", as: "alice").body).array
        #expect(Set(list?.compactMap { $0["RegistrationId"]?.string } ?? []) == [used, ids[119]])
    }

    @Test func `an id that was not used for a day is forgotten, and is no other's then`() throws {
        let site = try TestSite()
        let used = try newID(site)
        #expect(use(used, site) == .ok)
        let id = try newID(site)
        site.clock.advance(86_399)
        try sweep(site)
        #expect(try site.store.device(id) != nil)
        site.clock.advance(1)
        try sweep(site)
        #expect(try site.store.device(id) == nil)
        #expect(try site.store.devices(owner: "alice").map(\.id) == [used])
        // To another user it is any unknown id, under which nothing is registered.
        _ = use(id, site, as: "bob")
        #expect(try site.store.device(id) == nil)
    }

    @Test func `a device that registers unchanged is written once a day, and one that changed at once`() throws {
        let site = try TestSite()
        let id = try newID(site)
        func register(afterSeconds seconds: Int64) throws -> DeviceRecord {
            site.clock.advance(seconds)
            #expect(use(id, site) == .ok)
            return try #require(try site.store.device(id))
        }
        let first = try register(afterSeconds: 0)
        #expect(try register(afterSeconds: 86_400) == first)
        let next = try register(afterSeconds: 1)
        #expect(next.version > first.version && next.updatedAt.seconds == site.clock.seconds)
        let body = DeviceRegistration(platform: "apns", handle: TestSite.token(1), tags: ["news"]).json
        _ = site.call(.put, "/api/register/\(id)", as: "alice", body: String(decoding: body, as: UTF8.self))
        #expect(try site.store.device(id)?.tags == ["news"])
    }

    @Test func `a device that registers unchanged costs the built-in hub no write, once a day excepted`() throws {
        let site = try TestSite(road: .direct)
        let id = try newID(site)
        func version(afterSeconds seconds: Int64) throws -> Int {
            site.clock.advance(seconds)
            #expect(use(id, site) == .ok)
            return try #require(try site.store.hubRegistration(id)).version
        }
        let first = try version(afterSeconds: 0)
        #expect(try version(afterSeconds: 86_400) == first)
        #expect(try version(afterSeconds: 1) == first + 1)
        // What the hub has lost comes back although the device's record is unchanged.
        _ = try site.store.removeHubRegistration(id, version: nil)
        #expect(try version(afterSeconds: 1) > 0)
        let body = DeviceRegistration(platform: "apns", handle: TestSite.token(1), tags: ["e\u{301}"]).json
        _ = site.call(.put, "/api/register/\(id)", as: "alice", body: String(decoding: body, as: UTF8.self))
        let other = DeviceRegistration(platform: "apns", handle: TestSite.token(1), tags: ["\u{E9}"]).json
        _ = site.call(.put, "/api/register/\(id)", as: "alice", body: String(decoding: other, as: UTF8.self))
        // The two only look alike.
        #expect(try site.store.device(id)?.tags.map { Array($0.utf8) } == [[0xC3, 0xA9]])
        #expect(try site.store.hubRegistrations(tag: "\u{E9}", after: nil, limit: 9).elements.map(\.id) == [id])
    }
}
