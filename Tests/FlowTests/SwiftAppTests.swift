// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import DeviceClient
import Foundation
import HTTP
import HTTPTypes
import JSON
import NotificationHub
import Store
import Testing
import Text

import class System.Lock

/// An app that is made with `DeviceClient`, from its log-in to its log-out, with each kind of credential.
struct SwiftAppTests {
    private static let day: Int64 = 86_400

    /// What Apple hands to the app of the last push to its devices.
    private func userInfo(of site: TestSite) throws -> [AnyHashable: Any] {
        let push = try #require(site.hub.messages.last { $0.format == "apple" })
        let json = try JSONSerialization.jsonObject(with: Data(push.body.utf8))
        return try #require(json as? [String: Any])
    }

    private func appToken(of user: String, _ scopes: String, on site: TestSite) throws -> Credentials {
        let answer = site.call(.post, "/api/tokens", as: user, body: #"{"Scopes":[\#(scopes)]}"#)
        return try Credentials(token: try #require(try JSONValue(parsing: answer.body)["Token"]?.string))
    }

    /// Bob sends, and alice's app does everything with these credentials.
    private func live(on site: TestSite, as user: String, _ credentials: Credentials) async throws {
        let storage = MemoryStorage()
        let app = try site.device(of: user, storage: storage, credentials: credentials)
        let bob = try site.device(of: "bob").notifications
        try await app.registration.register(handle: TestSite.token(1), platform: .apns)

        let sent = try await bob.send(PushMessage(to: .one(user), title: "Lunch", body: "At noon"))
        let plain = PushedMessage(userInfo: try userInfo(of: site))
        #expect(plain.messageID == sent.messageID && plain.secure == nil)
        let inbox = try await app.notifications.inbox()
        let inboxID = try #require(plain.inboxID)
        #expect(inbox.unread == 1 && inbox.messages.map(\.id) == [inboxID])
        try await app.notifications.noteOpening(of: #require(plain.messageID))
        try await app.notifications.markAsRead(inboxID)
        let timeline = try await bob.timeline(of: #require(sent.messageID))
        #expect(timeline.opened == 1 && timeline.isRead == true)
        #expect(try await app.notifications.inbox(known: inbox).unread == 0)

        _ = try await bob.sendSecure("the code is 7", to: user)
        let secure = PushedMessage(userInfo: try userInfo(of: site))
        let reference = try #require(secure.secure)
        #expect(try await app.notifications.secureMessage(reference, within: 60).payload == "the code is 7")
        try await app.notifications.deleteFromInbox(#require(secure.inboxID))
        #expect(try await app.notifications.inbox().messages.map(\.id) == [inboxID])
        try await app.registration.unregister()
        #expect(storage.registrationID() == nil)
    }

    @Test func `with a password, and with an app token for registering and reading`() async throws {
        let site = try TestSite(adjusting: { $0.plainSeconds = 7 * Self.day })
        try await live(on: site, as: "alice", Credentials(user: "alice", password: "alice-secret"))
        let other = try TestSite(adjusting: { $0.plainSeconds = 7 * Self.day })
        try await live(on: other, as: "alice", appToken(of: "alice", #""register","read""#, on: other))
    }

    @Test func `with an identity provider, whose tokens end while the app runs`() async throws {
        let issuer = TestIssuer("https://id.example")
        let site = try TestSite(adjusting: { parts in
            parts.plainSeconds = 7 * Self.day
            issuer.trust(in: &parts)
        })
        let renewals = Lock(0)
        // It keeps its token until it learns that it is no good.
        let kept = Lock(try issuer.token("carol", expires: site.clock.seconds + 60))
        let clock = site.clock
        let credentials = Credentials { isRefused in
            guard isRefused else { return kept.withLock { $0 } }
            renewals.withLock { $0 += 1 }
            let token = try issuer.token("carol", expires: clock.seconds + 3600)
            kept.withLock { $0 = token }
            return token
        }
        let app = try site.device(of: "id.carol", credentials: credentials)
        try await app.registration.register(handle: TestSite.token(2), platform: .apns)
        #expect(renewals.withLock { $0 } == 0)
        site.clock.advance(600)
        #expect(try await app.notifications.inbox().unread == 0)
        #expect(renewals.withLock { $0 } == 1)
        try await live(on: site, as: "id.carol", credentials)
        #expect(renewals.withLock { $0 } == 1)
    }

    @Test func `a token that lacks a scope is refused, and the id is kept`() async throws {
        let site = try TestSite()
        let storage = MemoryStorage()
        try await site.device(of: "alice", storage: storage).registration.register(
            handle: TestSite.token(1), platform: .apns)
        let id = try #require(storage.registrationID())
        let reader = try site.device(
            of: "alice", storage: storage, credentials: appToken(of: "alice", #""read""#, on: site))
        let calls: [@Sendable () async throws -> Void] = [
            { try await reader.registration.register(handle: TestSite.token(1), platform: .apns) },
            { try await reader.registration.unregister() },
        ]
        for call in calls {
            let error = await #expect(throws: DeviceClientError.self) { try await call() }
            #expect(error?.problem?.status == .forbidden)
        }
        #expect(storage.registrationID() == id)
        #expect(try site.store.devices(owner: "alice").map(\.id) == [id])
    }

    @Test func `the next user of a telephone ends nothing of the one before, and is registered in their place`()
        async throws
    {
        let site = try TestSite()
        let storage = MemoryStorage()
        let alice = try site.device(of: "alice", storage: storage).registration
        try await alice.register(handle: TestSite.token(1), platform: .apns)
        let bob = try site.device(of: "bob", storage: storage).registration
        // Alice has not logged out.
        try await bob.unregister()
        #expect(storage.registrationID() == nil)
        #expect(try site.store.devices(owner: "alice").count == 1)
        try await bob.register(handle: TestSite.token(1), platform: .apns)
        #expect(try site.store.devices(owner: "alice").isEmpty)
        let id = try #require(storage.registrationID())
        #expect(try site.store.devices(owner: "bob").map(\.id) == [id])
    }
}
