// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTPTypes
import JSON
import Store
import Testing
import Text

/// `GET /api/notifications`: the order, the pages and the filter.
struct NotificationListTests {
    /// Leaves notifications for alice, a second apart.
    /// - Returns: their ids, newest first.
    private func fill(_ site: TestSite, _ count: Int, secondsApart: Int64 = 1) throws -> [Int32] {
        var ids: [Int32] = []
        for number in 0..<count {
            let now = Timestamp(seconds: site.clock.seconds)
            let kept = try site.store.createNotification(
                owner: "alice", sender: "bob", payload: "\(number)", now: now, expiresAt: now + 86_400)
            ids.insert(kept.id, at: 0)
            site.clock.advance(secondsApart)
        }
        return ids
    }

    private func list(_ site: TestSite, _ query: String = "", as user: String = "alice") throws -> [Int32] {
        let response = site.call(.get, "/api/notifications", query: query, as: user)
        #expect(response.fields[.cacheControl] == "no-store")
        return try SecureMessageSummary.list(response).map(\.id)
    }

    @Test func `the newest stands first, and the list has neither payloads nor what is another's`() throws {
        let site = try TestSite()
        let beginning = site.clock.seconds
        let ids = try fill(site, 6)
        #expect(try list(site) == ids)
        #expect(try list(site, as: "bob").isEmpty)
        let body = try JSONValue(parsing: site.call(.get, "/api/notifications", as: "alice").body)
        let expected = ids.enumerated().map { index, id in
            JSONValue.object([
                .init("Id", .number(String(id))), .init("Read", .bool(false)), .init("From", .string("bob")),
                .init("SentAt", .string(Timestamp(seconds: beginning + Int64(5 - index)).text)),
            ])
        }
        #expect(body.array == expected)
    }

    @Test func `of one second the later one is first`() throws {
        let site = try TestSite()
        let ids = try fill(site, 8, secondsApart: 0)
        #expect(try list(site) == ids)
    }

    @Test func `pages follow one another without a gap or a double`() throws {
        let site = try TestSite()
        let ids = try fill(site, 7)
        #expect(try list(site, "limit=3") == Array(ids[0..<3]))
        #expect(try list(site, "limit=3&after=\(ids[2])") == Array(ids[3..<6]))
        #expect(try list(site, "limit=3&after=\(ids[5])") == [ids[6]])
        #expect(try list(site, "limit=3&after=\(ids[6])").isEmpty)
        // What came meanwhile stands before the page, and does not move it.
        _ = try fill(site, 2)
        #expect(try list(site, "limit=3&after=\(ids[2])") == Array(ids[3..<6]))
    }

    @Test func `unread leaves out what was read, also behind a read one`() throws {
        let site = try TestSite()
        let ids = try fill(site, 5)
        for id in [ids[1], ids[2]] {
            #expect(site.call(.get, "/api/notifications/\(id)", as: "alice").status == .ok)
        }
        #expect(try list(site, "unread=true") == [ids[0], ids[3], ids[4]])
        #expect(try list(site, "unread=false") == ids)
        #expect(try list(site, "unread=true&after=\(ids[1])") == [ids[3], ids[4]])
        #expect(try list(site, "unread=true&limit=2") == [ids[0], ids[3]])
        let all = try SecureMessageSummary.list(site.call(.get, "/api/notifications", as: "alice"))
        #expect(all.map(\.isRead) == [false, true, true, false, false])
    }

    @Test func `fifty are listed when no limit is asked for, and a hundred at most`() throws {
        let site = try TestSite()
        let ids = try fill(site, 103)
        #expect(try list(site) == Array(ids[0..<50]))
        #expect(try list(site, "limit=100") == Array(ids[0..<100]))
        #expect(try list(site, "limit=1") == [ids[0]])
    }

    @Test func `an id that was deleted begins at the front, as does another's`() throws {
        let site = try TestSite()
        let ids = try fill(site, 3)
        let now = Timestamp(seconds: site.clock.seconds)
        let other = try site.store.createNotification(
            owner: "bob", sender: "", payload: "bob's", now: now, expiresAt: now + 86_400)
        for after in [other.id, Int32.max] { #expect(try list(site, "after=\(after)") == ids) }
    }
}
