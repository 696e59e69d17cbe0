// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import DeviceClient
import FileStore
import Foundation
import HTTPTypes
import JSON
import NotificationHub
import Store
import Testing
import Text

// Testing has a type of this name too.
private typealias Tag = NotificationHub.Tag

/// The whole arrow in one process: `RegisterClient` -> `Backend` -> `HubClient` -> `HubServer` ->
/// `BuiltInHub` -> `FileSiteStore`.
struct ArrowTests {
    @Test func `a device registers, a message is sent to its user, and the hub finds the device`() async throws {
        let site = try TestSite()
        let alice = try site.device(of: "alice")
        let bob = try site.device(of: "bob")
        try await alice.registration.register(handle: TestSite.token(1), platform: .apns, tags: ["news"])

        let outcome = try await bob.notifications.send("Hello", to: "alice", on: .apns)

        let first = try #require(outcome.outcomes.first)
        #expect(first.platform == "apns" && first.state == "Enqueued")
        let messageID = try #require(first.notificationID)
        let details = try #require(try site.hubClient.details(messageID))
        #expect(details.outcomes.first?.counts == [PlatformOutcomes.Count("Skipped", 1)])
        #expect(site.hub.messages.map(\.format) == ["apple"])
        #expect(site.hub.messages.first?.body == #"{"aps":{"alert":"From bob: Hello"}}"#)
    }

    @Test func `only an id travels, and only the recipient reads the payload`() async throws {
        let site = try TestSite()
        let alice = try site.device(of: "alice")
        let bob = try site.device(of: "bob")
        try await alice.registration.register(handle: TestSite.token(1), platform: .apns)

        let outcome = try await bob.notifications.sendSecure("the launch code", to: "alice")

        let push = try #require(site.hub.messages.first { $0.format == "apple" })
        #expect(!site.hub.messages.contains { $0.body.contains("launch") })
        let reference = try #require(SecureReference(payload: Array(push.body.utf8)))
        #expect(reference.id == outcome.id)
        let first = try await alice.notifications.secureMessage(reference)
        #expect(first.payload == "the launch code" && !first.isRead)
        #expect(try await alice.notifications.secureMessage(reference).isRead)
        await #expect(throws: DeviceClientError.self) { try await bob.notifications.secureMessage(reference) }
    }

    @Test func `what was accepted is still there in a new process`() async throws {
        let site = try TestSite()
        let outcome = try await site.device(of: "bob").notifications.sendSecure("kept", to: "alice")
        let again = try FileSiteStore.open(path: site.folder.path)
        let id = try #require(outcome.id)
        let now = Timestamp(seconds: site.clock.seconds)
        #expect(try again.notification(id, owner: "alice", now: now)?.payload == "kept")
    }

    @Test func `a device that unregisters is reached no more`() async throws {
        let site = try TestSite()
        let alice = try site.device(of: "alice")
        try await alice.registration.register(handle: TestSite.token(1), platform: .apns)
        try await alice.registration.unregister()
        let outcome = try await site.device(of: "bob").notifications.send("Hello", to: "alice", on: .apns)
        let details = try site.hubClient.details(try #require(outcome.outcomes.first?.notificationID))
        #expect(details?.state == "NoTargetFound")
    }

    @Test func `registering again updates the same registration`() async throws {
        let site = try TestSite()
        let storage = MemoryStorage()
        let alice = try site.device(of: "alice", storage: storage)
        try await alice.registration.register(handle: TestSite.token(1), platform: .apns, tags: ["news"])
        let id = storage.registrationID()
        try await alice.registration.register(handle: TestSite.token(1), platform: .apns, tags: ["sport"])
        #expect(storage.registrationID() == id)
        let list = try JSONValue(parsing: site.call(.get, "/api/register", as: "alice").body).array
        #expect(list?.count == 1)
        #expect(list?.first?["Tags"]?.array == [.string("sport")])
        #expect(list?.first?["Handle"]?.string == String(TestSite.token(1).suffix(6)))
    }

    @Test func `an app that brings an id of another backend is registered, and leaves by it`() async throws {
        let site = try TestSite()
        let storage = MemoryStorage(registrationID: "7260336227650468927-4200236381151834034-1")
        let alice = try site.device(of: "alice", storage: storage)
        try await alice.registration.register(handle: TestSite.token(1), platform: .apns)
        #expect(try site.hubClient.registrations(channel: TestSite.token(1)).count == 1)
        try await alice.registration.unregister()
        #expect(try site.hubClient.registrations(channel: TestSite.token(1)).isEmpty)
    }

    @Test func `a device that changes hands is its new user's alone`() async throws {
        let site = try TestSite()
        let id = try site.register("alice")
        let body = #"{"Platform":"apns","Handle":"\#(TestSite.token(1))"}"#
        #expect(site.call(.put, "/api/register/\(id)", as: "bob", body: body).status == .ok)
        #expect(site.call(.put, "/api/register/\(id)", as: "alice", body: body).status == .ok)
        #expect(site.call(.put, "/api/register/\(id)", as: "bob", body: body).status == .ok)
        let registrationID = try #require(RegistrationID(id))
        let registration = try #require(try site.hubClient.registration(registrationID))
        #expect(registration.tagTexts == ["username:bob"])
        #expect(site.call(.delete, "/api/register/\(id)", as: "alice").status == .forbidden)
    }

    @Test func `the handle finds the registration that the hub has and its doubles go`() async throws {
        let site = try TestSite()
        for number in 1...3 {
            let id = try #require(RegistrationID("\(number)-\(number)-1"))
            _ = try site.hubClient.createOrUpdate(
                RegistrationDescription(id: id, tags: [], handle: try .apns(TestSite.token(9))))
        }
        let response = site.call(.post, "/api/register", query: "handle=\(TestSite.token(9))", as: "alice")
        let id = try JSONValue(parsing: response.body).string
        let left = try site.hubClient.registrations(channel: TestSite.token(9))
        #expect(left.map { $0.id?.description } == [id])
        let put = site.call(
            .put, "/api/register/\(id ?? "")", as: "alice",
            body: #"{"Platform":"apns","Handle":"\#(TestSite.token(9))"}"#)
        #expect(put.status == .ok)
    }

    @Test func `the older tutorial's call keeps one registration per installation`() async throws {
        let site = try TestSite()
        let installation = "0B9A7C3E-1111-4222-8333-444455556666"
        for number in [1, 2] {
            let body =
                #"{"platform":"ios", "instId":"\#(installation)", "deviceToken":"\#(TestSite.token(number))"}"#
            #expect(site.call(.post, "/api/register", as: "alice", body: body).status == .ok)
        }
        let registrations = try site.hubClient.registrations(tag: try Tag(installation))
        #expect(registrations.count == 1)
        let registration = try #require(registrations.first)
        #expect(registration.handle.channel == TestSite.token(2))
        #expect(Set(registration.tagTexts) == [installation, "username:alice"])
        #expect(registration.template?.body.contains(#""inAppMessage":"$(message)""#) == true)
    }

    @Test func `a stranger's installation stays the stranger's`() async throws {
        let site = try TestSite()
        for (user, number) in [("alice", 1), ("bob", 2)] {
            let body = #"{"platform":"ios","instId":"one-id","deviceToken":"\#(TestSite.token(number))"}"#
            #expect(site.call(.post, "/api/register", as: user, body: body).status == .ok)
        }
        let registrations = try site.hubClient.registrations(tag: try Tag("one-id"))
        #expect(Set(registrations.map(\.handle.channel)) == [TestSite.token(1), TestSite.token(2)])
    }

    @Test func `an expired payload is as if it never was`() async throws {
        let site = try TestSite()
        let alice = try site.device(of: "alice")
        let outcome = try await alice.notifications.sendSecure("old")
        let id = try #require(outcome.id)
        let reference = try #require(SecureReference(id: id))
        site.clock.advance(31 * 86_400)
        await #expect(throws: DeviceClientError.self) { try await alice.notifications.secureMessage(reference) }
        #expect(try await alice.notifications.secureMessages().isEmpty)
    }

    @Test func `new clients may read by the token that travels beside the id`() async throws {
        let site = try TestSite()
        _ = try await site.device(of: "bob").notifications.sendSecure("by token", to: "alice")
        let push = try #require(site.hub.messages.first { $0.format == "apple" })
        let token = try #require(try JSONValue(parsing: Array(push.body.utf8))["secureToken"]?.string)
        let response = site.call(.get, "/api/notifications/\(token)", as: "alice")
        #expect(try JSONValue(parsing: response.body)["Payload"]?.string == "by token")
        #expect(response.fields[.cacheControl] == "no-store")
        #expect(site.call(.get, "/api/notifications/\(token)", as: "bob").status == .notFound)
    }

    @Test func `a handle that is registered under a new id leaves its former registration`() throws {
        let site = try TestSite()
        _ = try site.register("alice", handle: TestSite.token(1))
        site.clock.advance(1)
        let id = try site.register("bob", handle: TestSite.token(1))
        let left = try site.hubClient.registrations(channel: TestSite.token(1))
        #expect(left.map { $0.id?.description } == [id])
        #expect(left.first?.tagTexts == ["username:bob"])
        #expect(try site.store.devices(owner: "alice").isEmpty)
    }
}
