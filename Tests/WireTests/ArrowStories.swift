// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import DeviceClient
import Foundation
import HTTPTypes
import JSON
import NotificationHub
import Testing

extension WireTests {
    /// The stories of FlowTests once more: device -> nginx -> FastCGI -> `Backend` -> libcurl -> nginx -> FastCGI ->
    /// `LocalHub`, over TLS wherever a network is crossed.
    struct ArrowStories {
        @Test func `a device registers, a message is sent to its user, and the hub finds the device`() async throws {
            let site = try sharedSite()
            let (alice, bob) = (try site.addUser("alice"), try site.addUser("bob"))
            let handle = site.makeHandle()
            try await site.device(of: alice).registration.register(handle: handle, platform: .apns, tags: ["news"])

            let text = site.secrets.make("hello ")
            let outcome = try await site.device(of: bob).notifications.send(text, to: alice.name, on: .apns)

            let first = try #require(outcome.outcomes.first)
            #expect(first.platform == "apns" && first.state == "Enqueued")
            let notificationID = try #require(first.notificationID)
            let details = try #require(try site.hubClient().details(notificationID))
            #expect(details.outcomes.flatMap(\.counts).map(\.count).reduce(0, +) == 1)
            let registration = try #require(try site.hubClient().registrations(channel: handle).first)
            #expect(Set(registration.tagTexts) == ["news", "username:\(alice.name)"])
        }

        @Test func `only an id travels, and only the recipient reads the payload`() async throws {
            let site = try sharedSite()
            let (alice, bob) = (try site.addUser("alice"), try site.addUser("bob"))
            try await site.device(of: alice).registration.register(handle: site.makeHandle(), platform: .apns)
            let text = site.secrets.make("the launch code ")

            let outcome = try await site.device(of: bob).notifications.sendSecure(text, to: alice.name)

            #expect(outcome.isAccepted)
            let id = try #require(outcome.id)
            let reference = try #require(SecureReference(id: id))
            let notifications = try site.device(of: alice).notifications
            let first = try await notifications.secureMessage(reference)
            #expect(first.payload == text && !first.isRead)
            #expect(try await notifications.secureMessage(reference).isRead)
            await #expect(throws: DeviceClientError.self) {
                try await site.device(of: bob).notifications.secureMessage(reference)
            }
            #expect(try files(under: site.store).contains { $0.contains(text) })
            #expect(try !files(under: site.scratch.path("hub-store")).contains { $0.contains(text) })
        }

        @Test func `a secure message is not for a cache, and its list shows no payload`() throws {
            let site = try sharedSite()
            let alice = try site.addUser("alice")
            let text = site.secrets.make("kept ")
            let id = try site.sendSecure(text, from: alice, to: alice)
            let list = try site.call(.get, Path.notifications, as: alice)
            #expect(try JSONValue(parsing: list.body).array?.first?["Id"]?.integer == Int(id))
            #expect(!String(decoding: list.body, as: UTF8.self).contains(text))
            let answer = try site.call(.get, "\(Path.notifications)/\(id)", as: alice)
            #expect(answer.status == .ok && answer.fields[.cacheControl] == "no-store")
            #expect(answer.fields[.contentType] == "application/json; charset=utf-8")
        }

        @Test func `a device that unregisters is reached no more`() async throws {
            let site = try sharedSite()
            let (alice, bob) = (try site.addUser("alice"), try site.addUser("bob"))
            let device = try site.device(of: alice)
            let handle = site.makeHandle()
            try await device.registration.register(handle: handle, platform: .apns)
            try await device.registration.unregister()
            let text = site.secrets.make("too late ")
            let outcome = try await site.device(of: bob).notifications.send(text, to: alice.name, on: .apns)
            let details = try site.hubClient().details(try #require(outcome.outcomes.first?.notificationID))
            #expect(details?.state == "NoTargetFound")
            #expect(try site.hubClient().registrations(channel: handle).isEmpty)
        }

        @Test func `deleting twice is no error, deleting another user's is`() throws {
            let site = try sharedSite()
            let (alice, bob) = (try site.addUser("alice"), try site.addUser("bob"))
            let id = try site.register(alice, handle: site.makeHandle())
            #expect(try site.call(.delete, "\(Path.register)/\(id)", as: bob).status == .forbidden)
            #expect(try site.call(.delete, "\(Path.register)/\(id)", as: alice).status == .ok)
            #expect(try site.call(.delete, "\(Path.register)/\(id)", as: alice).status == .ok)
            #expect(try site.hubClient().registration(try #require(RegistrationID(id))) == nil)
        }

        @Test func `an app that brings an id of another backend is registered, and leaves by it`() async throws {
            let site = try sharedSite()
            let alice = try site.addUser("alice")
            let storage = MemoryStorage(registrationID: "7260336227650468927-4200236381151834034-1")
            let handle = site.makeHandle()
            let registration = try site.device(of: alice, storage: storage).registration
            for _ in 1...2 {
                try await registration.register(handle: handle, platform: .apns)
                #expect(try site.hubClient().registrations(channel: handle).count == 1)
            }
            try await registration.unregister()
            #expect(try site.hubClient().registrations(channel: handle).isEmpty)
        }

        @Test func `a device that changes hands is its new user's alone`() throws {
            let site = try sharedSite()
            let (alice, bob) = (try site.addUser("alice"), try site.addUser("bob"))
            let handle = site.makeHandle()
            let id = try site.register(alice, handle: handle)
            let other = site.makeHandle()
            #expect(try site.put(id, handle: other, as: bob).status == .ok)
            let own = try site.hubClient().registrations(channel: other)
            #expect(own.first?.tagTexts == ["username:\(bob.name)"] && own.first?.id?.description != id)
            #expect(try site.put(id, handle: handle, as: bob).status == .ok)
            let registration = try site.hubClient().registration(try #require(RegistrationID(id)))
            #expect(registration?.tagTexts == ["username:\(bob.name)"])
            #expect(try site.call(.delete, "\(Path.register)/\(id)", as: alice).status == .forbidden)
            let list = try JSONValue(parsing: site.call(.get, Path.register, as: bob).body).array
            let handles = list?.compactMap { $0["Handle"]?.string } ?? []
            #expect(Set(handles) == [String(handle.suffix(6)), String(other.suffix(6))])
        }

        @Test func `the handle in a query finds the registration that the hub has, and its doubles go`() throws {
            let site = try sharedSite()
            let alice = try site.addUser("alice")
            let handle = site.makeHandle()
            let hub = try site.hubClient()
            for _ in 1...3 {
                let id = try hub.createRegistrationID()
                _ = try hub.createOrUpdate(RegistrationDescription(id: id, tags: [], handle: try .apns(handle)))
            }
            let answer = try site.call(.post, Path.register, query: "handle=\(handle)", as: alice)
            let id = try JSONValue(parsing: answer.body).string
            #expect(try hub.registrations(channel: handle).map { $0.id?.description } == [id])
        }

        @Test func `the older tutorial's call keeps one registration per installation`() throws {
            let site = try sharedSite()
            let alice = try site.addUser("alice")
            let installation = UUID().uuidString
            let handles = [site.makeHandle(), site.makeHandle()]
            for handle in handles {
                let body = #"{"platform":"ios","instId":"\#(installation)","deviceToken":"\#(handle)"}"#
                #expect(try site.call(.post, Path.register, as: alice, body: body).status == .ok)
            }
            let registrations = try site.hubClient().registrations(tag: try Tag(installation))
            #expect(registrations.map(\.handle.channel) == [handles[1]])
        }

        private func files(under folder: String) throws -> [String] {
            let names = try FileManager.default.subpathsOfDirectory(atPath: folder)
            return names.compactMap { try? String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8) }
        }
    }
}
