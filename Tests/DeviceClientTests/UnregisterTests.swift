// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import DeviceClient
import HTTPTypes
import Testing

struct UnregisterTests {
    @Test func `the registration is deleted and its id forgotten`() async throws {
        let transport = ScriptedTransport(.ok)
        let client = try Example.registerClient(transport, MemoryStorage(registrationID: "7"))
        try await client.unregister()
        #expect(transport.lines == ["DELETE /api/register/7"])
        #expect(client.registrationID == nil)
    }

    @Test func `without an id nothing is asked`() async throws {
        let transport = ScriptedTransport()
        try await Example.registerClient(transport).unregister()
        #expect(transport.requests.isEmpty)
    }

    @Test func `an id that cannot be read any more is ended as it was registered last`() async throws {
        let (transport, storage) = (ScriptedTransport(.ok, .ok), MemoryStorage(registrationID: "7"))
        let client = try Example.registerClient(transport, storage)
        try await client.register(handle: "A0", platform: .apns)
        storage.setRegistrationID(nil)
        try await client.unregister()
        try await client.unregister()
        #expect(transport.lines == ["PUT /api/register/7", "DELETE /api/register/7"])
    }

    @Test func `a registration that is gone already is no error`() async throws {
        let client = try Example.registerClient(
            ScriptedTransport(.problem(.registrationGone)), MemoryStorage(registrationID: "7"))
        try await client.unregister()
        #expect(client.registrationID == nil)
    }

    @Test func `a refused deletion keeps the id, and forgetting does not ask`() async throws {
        let transport = ScriptedTransport(.problem(.tokenNotAllowed))
        let client = try Example.registerClient(transport, MemoryStorage(registrationID: "7"))
        await #expect(throws: DeviceClientError.refused(Problem(.tokenNotAllowed, "No."))) {
            try await client.unregister()
        }
        #expect(client.registrationID == "7")
        await client.forget()
        #expect(client.registrationID == nil)
        #expect(transport.requests.count == 1)
    }

    @Test func `an id that is another user's is forgotten without an error`() async throws {
        let transport = ScriptedTransport(Problem.foreignRegistration.response)
        let client = try Example.registerClient(transport, MemoryStorage(registrationID: "7"))
        try await client.unregister()
        #expect(client.registrationID == nil)
        #expect(transport.lines == ["DELETE /api/register/7"])
    }
}
