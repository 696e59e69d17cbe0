// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import DeviceClient
import HTTP
import HTTPTypes
import Testing

struct RegisterClientTests {
    @Test func `the first registration asks for an id, then puts the device under it`() async throws {
        let transport = ScriptedTransport(.id("12-34_ab"), .ok)
        let storage = MemoryStorage()
        try await Example.registerClient(transport, storage).register(
            handle: "A0B1", platform: .apns, tags: ["news"])

        #expect(transport.lines == ["POST /api/register?handle=A0B1", "PUT /api/register/12-34_ab"])
        #expect(storage.registrationID() == "12-34_ab")
        let put = try #require(transport.requests.last)
        #expect(
            try DeviceRegistration(body: put.body)
                == DeviceRegistration(platform: "apns", handle: "A0B1", tags: ["news"]))
        #expect(put.fields[.contentType] == "application/json; charset=utf-8")
    }

    @Test func `every call carries the credentials as a header field and nowhere else`() async throws {
        let transport = ScriptedTransport(.id("1"), .ok, .ok)
        let client = try Example.registerClient(transport)
        try await client.register(handle: "A0", platform: .apns)
        try await client.unregister()

        #expect(transport.requests.count == 3)
        for request in transport.requests {
            // alice:wonder:land
            #expect(request.fields[.authorization] == "Basic YWxpY2U6d29uZGVyOmxhbmQ=")
            #expect(request.scheme == "https" && request.authority == "push.example.com")
            #expect(!request.target.contains("alice") && !request.target.contains("wonder"))
        }
    }

    @Test func `a kept id is used again without asking`() async throws {
        let transport = ScriptedTransport(.ok)
        try await Example.registerClient(transport, MemoryStorage(registrationID: "7")).register(
            handle: "A0", platform: .fcm)
        #expect(transport.lines == ["PUT /api/register/7"])
    }

    @Test(arguments: ["", "../../health", "a b", String(repeating: "x", count: 129)])
    func `a kept text that is no id is replaced`(text: String) async throws {
        let transport = ScriptedTransport(.id("8"), .ok)
        let storage = MemoryStorage(registrationID: text)
        try await Example.registerClient(transport, storage).register(handle: "A0", platform: .apns)
        #expect(transport.lines == ["POST /api/register?handle=A0", "PUT /api/register/8"])
        #expect(storage.registrationID() == "8")
    }

    @Test func `an id that is gone is forgotten, and a fresh one is tried once`() async throws {
        let transport = ScriptedTransport(.problem(.registrationGone), .id("new"), .ok)
        let storage = MemoryStorage(registrationID: "old")
        try await Example.registerClient(transport, storage).register(handle: "A0", platform: .apns)
        #expect(
            transport.lines == ["PUT /api/register/old", "POST /api/register?handle=A0", "PUT /api/register/new"])
        #expect(storage.registrationID() == "new")
    }

    @Test func `an id that is gone twice is an error, and none is kept`() async throws {
        let transport = ScriptedTransport(
            .problem(.registrationGone), .id("new"), .problem(.registrationGone, "Gone again."))
        let storage = MemoryStorage(registrationID: "old")
        let client = try Example.registerClient(transport, storage)
        await #expect(throws: DeviceClientError.registrationGone(Problem(.registrationGone, "Gone again."))) {
            try await client.register(handle: "A0", platform: .apns)
        }
        #expect(transport.requests.count == 3)
        #expect(storage.registrationID() == nil)
    }

    @Test func `an id that is another user's is replaced, and a fresh one is tried once`() async throws {
        let foreign = Problem.foreignRegistration
        let transport = ScriptedTransport(foreign.response, .id("new"), .ok)
        let storage = MemoryStorage(registrationID: "old")
        try await Example.registerClient(transport, storage).register(handle: "A0", platform: .apns)
        let lines = ["PUT /api/register/old", "POST /api/register?handle=A0", "PUT /api/register/new"]
        #expect(transport.lines == lines)
        #expect(storage.registrationID() == "new")

        let stubborn = ScriptedTransport(foreign.response, .id("new"), foreign.response)
        let client = try Example.registerClient(stubborn, MemoryStorage(registrationID: "old"))
        await #expect(throws: DeviceClientError.refused(foreign)) {
            try await client.register(handle: "A0", platform: .apns)
        }
        #expect(stubborn.lines == lines)
    }

    @Test(arguments: [
        Problem(.tagNotAllowed, "You may not claim the tag admin (policy.tags).", field: "Tags"),
        Problem(.scopeMissing, "This app token lacks the scope register."), Problem(.noSuchMessage, "No."),
        Problem(.invalidValue, "This registration id belongs to another user."),
    ])
    func `any other refusal is an error at once, and the id is kept`(problem: Problem) async throws {
        let transport = ScriptedTransport(problem.response)
        let client = try Example.registerClient(transport, MemoryStorage(registrationID: "7"))
        await #expect(throws: DeviceClientError.refused(problem)) {
            try await client.register(handle: "A0", platform: .apns)
        }
        #expect(transport.requests.count == 1)
        #expect(client.registrationID == "7")
    }

    @Test func `another user's id is kept when no other one can be had`() async throws {
        let transport = ScriptedTransport(Problem.foreignRegistration.response, .problem(.storeBusy))
        let client = try Example.registerClient(transport, MemoryStorage(registrationID: "old"))
        await #expect(throws: DeviceClientError.busy(Problem(.storeBusy, "No."))) {
            try await client.register(handle: "A0", platform: .apns)
        }
        #expect(client.registrationID == "old")
    }

    @Test func `the id is kept as soon as it is known, also when the put fails`() async throws {
        let transport = ScriptedTransport(.id("9"), .problem(.storeBusy, retryAfter: 5), .ok)
        let storage = MemoryStorage()
        let client = try Example.registerClient(transport, storage)
        await #expect(throws: DeviceClientError.busy(Problem(.storeBusy, "No.", retryAfter: 5))) {
            try await client.register(handle: "A0", platform: .apns)
        }
        try await client.register(handle: "A0", platform: .apns)
        #expect(transport.lines.suffix(2) == ["PUT /api/register/9", "PUT /api/register/9"])
    }

    @Test(arguments: [
        ("https://a.example/p?q=1&r=ä+/", "https%3A%2F%2Fa.example%2Fp%3Fq%3D1%26r%3D%C3%A4%2B%2F"),
        ("a b#c%", "a%20b%23c%25"),
        ("tok-en_1.~", "tok-en_1.~"),
    ])
    func `the handle is percent-encoded`(handle: String, encoded: String) async throws {
        let transport = ScriptedTransport(.id("1"), .ok)
        try await Example.registerClient(transport).register(handle: handle, platform: .wns)
        let post = try #require(transport.requests.first)
        #expect(post.query == "handle=" + encoded)
        #expect(try Query(post.query)["handle"] == handle)
    }

    @Test(arguments: ["", "17", "{\"id\":\"1\"}", "\"\"", "\"a/b\"", "<html>", "\"1\" x"])
    func `an answer that is no id is refused, and nothing is kept`(body: String) async throws {
        let storage = MemoryStorage()
        let client = try Example.registerClient(ScriptedTransport(.body(body)), storage)
        let error = await #expect(throws: DeviceClientError.self) {
            try await client.register(handle: "A0", platform: .apns)
        }
        guard case .malformedAnswer = error else {
            Issue.record("not malformedAnswer: \(String(describing: error))")
            return
        }
        #expect(storage.registrationID() == nil)
    }

    @Test func `a browser registers with its keys`() async throws {
        let transport = ScriptedTransport(.id("1"), .ok)
        let registration = DeviceRegistration(
            platform: "browser", handle: "https://push.example/1", keys: .init(p256dh: "BA", auth: "xy"))
        try await Example.registerClient(transport).register(registration)
        #expect(try DeviceRegistration(body: #require(transport.requests.last).body) == registration)
    }

    @Test func `the older tutorial's call is one post and keeps nothing`() async throws {
        let transport = ScriptedTransport(.body("{}"))
        let storage = MemoryStorage()
        var device = DeviceInfo(storage: storage)
        device.setDeviceToken([0xA0, 0x01])
        let registration = try #require(device.registration)
        try await Example.registerClient(transport, storage).register(registration)
        #expect(transport.lines == ["POST /api/register"])
        #expect(try InstallationRegistration(body: #require(transport.requests.first).body) == registration)
        #expect(storage.registrationID() == nil)
    }
}
