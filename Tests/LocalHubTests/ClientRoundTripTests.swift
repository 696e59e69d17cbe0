// SPDX-License-Identifier: Apache-2.0
import NotificationHub
import Testing

/// The real client and the real hub, with no network between them.
@Suite struct `A client of the local hub` {
    let bench = HubBench()
    let client: NotificationHubClient

    init() throws {
        let connection = try ConnectionString(
            "Endpoint=sb://hub.example/;SharedAccessKeyName=full;SharedAccessKey=full-key")
        client = NotificationHubClient(
            connection: connection, hub: "MyHub", transport: bench.hub, now: { HubBench.now })
    }

    @Test func `registers, finds, sends, asks, and deletes`() throws {
        let id = try client.createRegistrationID()
        let tag = try Tag("username:ålice")
        let handle = try DeviceHandle.apns("abcd")
        let stored = try client.createOrUpdate(RegistrationDescription(id: id, tags: [tag], handle: handle))
        #expect(stored.id == id)
        #expect(stored.etag == "1")
        #expect(try client.registration(id)?.tags == [tag])
        #expect(try client.registrations(channel: handle.channel).map(\.id) == [id])
        #expect(try client.registrations(tag: Tag("USERNAME:Ålice")).map(\.id) == [id])
        let receipt = try client.send(.apns(json: Array("{}".utf8)), to: .tag(tag))
        let notificationID = try #require(receipt.notificationID)
        let details = try #require(try client.details(notificationID))
        #expect(details.state == "Abandoned")
        #expect(details.outcomes == [PlatformOutcomes(.apns, [PlatformOutcomes.Count("Skipped", 1)])])
        #expect(try client.delete(id))
        #expect(try !client.delete(id))
        #expect(try client.registration(id) == nil)
        #expect(try client.registrations(channel: handle.channel) == [])
        #expect(try client.details("unknown") == nil)
    }

    @Test func `reads a list of many pages to its end`() throws {
        let tag = try Tag("all")
        for index in 1...25 {
            _ = try client.createOrUpdate(
                RegistrationDescription(
                    id: RegistrationID("\(index)-1-1"), tags: [tag], handle: try .fcm("token-\(index)")))
        }
        #expect(try Set(client.registrations(tag: tag, top: 4).compactMap(\.id)).count == 25)
    }

    @Test func `is refused with a wrong key, and told what it sent wrong`() throws {
        let wrong = NotificationHubClient(
            connection: try ConnectionString(
                "Endpoint=sb://hub.example/;SharedAccessKeyName=full;SharedAccessKey=wrong"),
            hub: "MyHub", transport: bench.hub, now: { HubBench.now })
        #expect(throws: HubError.unauthorized) { try wrong.createRegistrationID() }
        #expect(throws: HubError.refused(status: 400, code: "400")) {
            let handle = try DeviceHandle.wns("https://a.b/")
            let id = RegistrationID("1-1-1")
            _ = try client.createOrUpdate(
                RegistrationDescription(id: id, handle: handle, template: Template(body: "<toast/>")))
        }
    }
}
