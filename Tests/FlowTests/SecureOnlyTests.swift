// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import HTTP
import HTTPTypes
import Store
import Testing
import Text

/// The tutorial's secure app sends with `pns`, as the one before it does. Where no plain text may leave, that is kept too.
struct SecureOnlyTests {
    enum Careful: String, CaseIterable, Sendable {
        case everybody, sender, recipient
    }

    private func site(_ careful: Careful?) throws -> TestSite {
        let site = try TestSite(
            users: ["alice", "bob", "carol"], policy: TagPolicy(isSecureOnly: careful == .everybody))
        let name = [Careful.sender: "bob", .recipient: "alice"][careful ?? .everybody]
        if let name { try site.change(name) { $0.isSecureOnly = true } }
        return site
    }

    private func post(_ query: String, on site: TestSite) -> Response {
        site.call(.post, "/api/notifications", query: query, as: "bob", body: #""the text""#)
    }

    @Test(arguments: Careful.allCases) func `a plain send is kept and only its id leaves, to that platform`(
        careful: Careful
    ) throws {
        let site = try site(careful)
        let body = #"{"platform":"ios","instId":"i","deviceToken":"\#(TestSite.token(2))"}"#
        #expect(site.call(.post, "/api/register", as: "alice", body: body).status == .ok)
        let response = post("pns=apns&to_tag=alice", on: site)
        #expect(response.status == .ok)
        let outcome = try SendOutcome(response)
        #expect(outcome.outcomes.map(\.platform) == ["apns", "template"])
        // Not those who may hear the sender: the text is the recipient's alone.
        #expect(site.hub.messages.map(\.tags) == ["username:alice", "username:alice"])
        #expect(!site.hub.messages.contains { $0.body.contains("the text") })
        let id = try #require(outcome.id)
        let message = try SecureMessage(site.call(.get, "/api/notifications/\(id)", as: "alice"))
        #expect(message.payload == "the text")
    }

    @Test(arguments: [Careful.everybody, .sender]) func `a secret without a reader is not kept`(careful: Careful) throws
    {
        let site = try site(careful)
        let response = post("pns=apns&to_tag=nosuch", on: site)
        #expect(response.status == .badRequest)
        #expect(Problem(response).field == "to_tag")
        #expect(site.hub.messages.isEmpty)
    }

    @Test func `a plain send between others leaves as it always did`() throws {
        for careful in [nil, Careful.recipient] {
            let site = try site(careful)
            #expect(try SendOutcome(post("pns=apns&to_tag=carol", on: site)).id == nil)
            #expect(site.hub.messages.map(\.body) == [#"{"aps":{"alert":"From bob: the text"}}"#])
        }
    }

    @Test func `what a secure-only recipient is sent is checked as any send`() throws {
        let site = try site(.recipient)
        #expect(post("pns=palm&to_tag=alice", on: site).status == .badRequest)
        #expect(post("pns=apns", on: site).status == .badRequest)
        let list = site.call(.get, "/api/notifications", as: "alice")
        #expect(String(decoding: list.body, as: UTF8.self) == "[]")
    }

    @Test func `the devices that a careful user leaves behind are sent no plain text`() throws {
        let site = try site(.recipient)
        let body = #"{"platform":"ios","instId":"i","deviceToken":"\#(TestSite.token(2))"}"#
        #expect(site.call(.post, "/api/register", as: "alice", body: body).status == .ok)
        _ = try site.upkeep().remove("alice", keepingData: true)
        #expect(post("pns=apns&to_tag=alice", on: site).status == .badRequest)
        let next = try User(
            name: "alice", passwordHash: try PasswordHash.make("x"), after: try site.store.userRecord("alice"),
            now: Timestamp(seconds: site.clock.seconds))
        let added = try site.store.putUser(try #require(next))
        #expect(added.isSecureOnly)
        // The tags of those devices are looked at as after a change of rights.
        #expect(added.upkeep.review != nil)
        #expect(try SendOutcome(post("pns=apns&to_tag=alice", on: site)).id != nil)
        #expect(!site.hub.messages.contains { $0.body.contains("the text") })
    }
}
