// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import JSON
import Store
import Testing

/// Sends that reach no device: the built-in hub knows at once, and the answer says it.
struct SendToNobodyTests {
    private func send(_ site: TestSite, to recipient: String, on platform: String = "apns") -> Response {
        site.call(
            .post, "/api/notifications", query: "pns=\(platform)&to_tag=\(recipient)", as: "alice", body: #""Hello""#)
    }

    private func states(_ response: Response) throws -> [String] {
        #expect(response.status == .ok)
        return try SendOutcome(response).outcomes.map { "\($0.platform) \($0.state)" }
    }

    @Test func `a recipient without a device is NoTargetFound, and the call is answered 200 as before`() throws {
        let site = try TestSite()
        let answer = send(site, to: "bob")
        #expect(try states(answer) == ["apns NoTargetFound"])
        #expect(try SendOutcome(answer).isAccepted)
        let id = try #require(try SendOutcome(answer).outcomes.first?.notificationID)
        let outcome = site.call(.get, "/api/notifications/outcomes/\(id)", as: "alice")
        #expect(try SendOutcomeDetails(outcome).state == "NoTargetFound")
    }

    @Test func `a user who is unknown and one who has no device are answered alike`() throws {
        let site = try TestSite()
        func body(_ recipient: String) throws -> String {
            let answer = send(site, to: recipient)
            let id = try #require(try SendOutcome(answer).outcomes.first?.notificationID)
            return String(decoding: answer.body, as: UTF8.self).replacing(id, with: "ID")
        }
        #expect(try body("nosuchuser") == body("bob"))
    }

    @Test func `only the platforms without a device are named, of a secret too`() throws {
        let site = try TestSite()
        _ = try site.register("bob")
        #expect(try states(send(site, to: "bob")) == ["apns Enqueued"])
        #expect(try states(send(site, to: "bob", on: "fcm")) == ["fcm NoTargetFound"])
        let secret = site.call(.post, "/api/notifications", query: "to_tag=bob", as: "alice", body: #""Hi""#)
        #expect(
            try states(secret) == ["apns Enqueued", "fcm NoTargetFound", "wns NoTargetFound", "browser NoTargetFound"])
        let kept = try #require(try SendOutcome(secret).id)
        #expect(site.call(.get, "/api/notifications/\(kept)", as: "bob").status == .ok)
    }

    @Test func `a device that hears the sender is a target`() throws {
        let site = try TestSite(users: ["alice"])
        let carol = User(name: "carol", passwordHash: try TestSite.passwordHash(of: "carol"), tags: ["from:alice"])
        _ = try site.store.putUser(carol)
        _ = try site.register("carol", tags: ["from:alice"])
        #expect(try states(send(site, to: "nosuchuser")) == ["apns Enqueued"])
    }

    @Test func `what a hub does not say is not made up`() throws {
        let site = try TestSite(
            hub: ClosureResponder { _ in
                Response(status: .created, fields: [.location: "https://hub.test/hub/messages/1-2?api-version=2020-06"])
            })
        #expect(try states(send(site, to: "bob")) == ["apns Enqueued"])
    }
}
