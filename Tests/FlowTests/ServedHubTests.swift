// SPDX-License-Identifier: Apache-2.0
import BuiltInHub
import HTTP
import HubServer
import NotificationHub
import Testing
import Text

/// A site that serves its hub to others, with a user's device and a key that knows all of it.
@Suite struct `A site that serves its hub` {
    private func client(_ site: TestSite) throws -> HubClient {
        let key = SharedAccessKey(name: "app", key: Secret("0123456789abcdef0123456789abcdef"), rights: .listen)
        let clock = site.clock
        let server = HubServer(
            BuiltInHub(store: site.hubStore, now: { clock.seconds }).served, name: "hub", keys: [key],
            hosts: ["localhost"], now: { clock.seconds })
        return HubClient(
            connection: try ConnectionString(
                "Endpoint=sb://localhost/;SharedAccessKeyName=app;SharedAccessKey=\(key.key.reveal())"),
            hub: "hub", transport: server, now: { clock.seconds })
    }

    @Test(arguments: TestSite.Road.allCases)
    func `a key that uses a device's id, handle and tags leaves the device and its list alone`(
        road: TestSite.Road
    ) throws {
        let site = try TestSite(road: road)
        let id = try #require(RegistrationID(try site.register("alice", tags: ["news"])))
        let before = site.call(.get, "/api/register", as: "alice").body
        let client = try client(site)
        let handle = try DeviceHandle.apns(TestSite.token(1))
        #expect(try client.registration(id) == nil)
        #expect(try client.registrations(channel: handle.channel) == [])
        let tags = try ["username:alice", "from:bob", "device:\(id)", "news"].map { try NotificationHub.Tag($0) }
        let other = try DeviceHandle.apns(TestSite.token(2))
        for stranger in [handle, other] {
            _ = try client.createOrUpdate(RegistrationDescription(id: id, tags: tags, handle: stranger))
            let expression = try TagExpression.any(of: tags)
            let reached = try BuiltInHub(store: site.hubStore, now: { 0 }).sendTest(
                .apns(json: []), to: .tags(expression))
            #expect(reached.results.map(\.handle) == [handle])
        }
        #expect(try client.delete(id))
        #expect(site.call(.get, "/api/register", as: "alice").body == before)
        #expect(try site.store.device(id.description)?.isGone == false)
        // A user who registers the handle of a key's registration takes nothing from it.
        _ = try client.createOrUpdate(RegistrationDescription(id: id, tags: tags, handle: handle))
        _ = try site.register("bob", handle: TestSite.token(1))
        #expect(try client.registration(id)?.handle == handle)
    }
}
