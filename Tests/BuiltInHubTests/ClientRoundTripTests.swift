// SPDX-License-Identifier: Apache-2.0
import NotificationHub
import Testing

/// The real client and the real REST face, with no network between them: what `HubContract` does not ask of every hub.
@Suite struct `A client of the built-in hub` {
    let bench = HubBench()

    @Test func `reads a list of many pages to its end`() throws {
        let client = try bench.client()
        let tag = try Tag("all")
        for index in 1...25 {
            _ = try client.createOrUpdate(
                RegistrationDescription(
                    id: RegistrationID("\(index)-1-1"), tags: [tag], handle: try .fcm("token-\(index)")))
        }
        #expect(try Set(client.registrations(tag: tag, top: 4).compactMap(\.id)).count == 25)
        #expect(try client.registrations(tag: Tag("ALL")).count == 25)
    }

    @Test func `is refused with a wrong key`() throws {
        let wrong = try bench.client(key: "wrong")
        #expect(throws: HubError.unauthorized) { try wrong.createRegistrationID() }
    }
}
