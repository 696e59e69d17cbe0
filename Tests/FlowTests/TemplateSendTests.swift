// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTPTypes
import JSON
import NotificationHub
import Testing

/// Devices of the older call: they registered templates, which a native notification does not reach.
struct TemplateSendTests {
    private func install(
        _ platform: InstallationRegistration.Platform, _ id: String, _ handle: String, on site: TestSite
    ) {
        let body = InstallationRegistration(platform: platform, installationID: id, handle: handle).json
        let response = site.call(
            .post, "/api/register", as: "alice", body: String(decoding: body, as: UTF8.self))
        #expect(response.status == .ok)
    }

    private func send(_ query: String, on site: TestSite) throws -> SendOutcome {
        let response = site.call(.post, "/api/notifications", query: query, as: "bob", body: #""the text""#)
        #expect(response.status == .ok)
        return try SendOutcome(response)
    }

    /// How many devices the hub found for an entry of the outcome, by platform; as its sender asks for it.
    private func found(_ name: String, in outcome: SendOutcome, on site: TestSite) throws -> [String: Int] {
        let entries = outcome.outcomes.filter { $0.platform == name }
        let id = try #require(entries.first?.notificationID)
        #expect(entries.count == 1)
        let details = try SendOutcomeDetails(site.call(.get, "/api/notifications/outcomes/\(id)", as: "bob"))
        return Dictionary(
            uniqueKeysWithValues: details.outcomes.map { ($0.platform, $0.counts.reduce(0) { $0 + $1.devices }) })
    }

    @Test func `a message reaches a device of the older call, with what its template shows, and is counted`() throws {
        let site = try TestSite()
        install(.ios, "inst-1", TestSite.token(1), on: site)
        let outcome = try send("pns=apns&to_tag=alice", on: site)
        #expect(outcome.outcomes.map(\.platform) == ["apns", "template"])
        #expect(try found("apns", in: outcome, on: site).isEmpty)
        #expect(try found("template", in: outcome, on: site) == ["apns": 1])
        let message = try #require(site.hub.messages.last)
        #expect(message.format == "template")
        #expect(message.body == #"{"message":"From bob: the text"}"#)
    }

    @Test func `a secure push reaches it with the two names and a text that tells nothing`() throws {
        let site = try TestSite()
        install(.ios, "inst-1", TestSite.token(1), on: site)
        let outcome = try send("to_tag=alice", on: site)
        #expect(outcome.outcomes.map(\.platform) == ["apns", "fcm", "wns", "browser", "template"])
        #expect(try found("template", in: outcome, on: site) == ["apns": 1])
        #expect(!site.hub.messages.contains { $0.body.contains("the text") })
        let properties = try JSONValue(parsing: Array(try #require(site.hub.messages.last).body.utf8))
        let id = try #require(outcome.id)
        #expect(properties["secureId"]?.string == String(id))
        #expect(properties["message"]?.string == "A secure message is waiting. Open the app to read it.")
        let token = try #require(properties["secureToken"]?.string)
        let read = site.call(.get, "/api/notifications/\(token)", as: "alice")
        #expect(try SecureMessage(read).payload == "the text")
    }

    @Test func `a send costs one more request only where its recipient has such a device on the platform`() throws {
        let site = try TestSite()
        _ = try site.register("alice")
        install(.android, "inst-1", "token:a", on: site)
        #expect(try send("pns=apns&to_tag=alice", on: site).outcomes.map(\.platform) == ["apns"])
        #expect(try send("pns=fcm&to_tag=bob", on: site).outcomes.map(\.platform) == ["fcm"])
        #expect(site.hub.messages.map(\.format) == ["apple", "fcmv1"])
    }

    @Test func `a message for one platform stays on it where the recipient has older devices of several`() throws {
        let site = try TestSite()
        install(.ios, "phone", TestSite.token(1), on: site)
        for number in 1...7 { install(.android, "tablet-\(number)", "token:\(number)", on: site) }
        let apple = try send("pns=apns&to_tag=alice", on: site)
        #expect(try found("template", in: apple, on: site) == ["apns": 1])
        let google = try send("pns=fcm&to_tag=alice", on: site)
        #expect(try found("template", in: google, on: site) == ["fcm": 5])
        let secure = try send("to_tag=alice", on: site)
        #expect(try found("template", in: secure, on: site) == ["apns": 1, "fcm": 7])
    }

    @Test func `who has another user's installation id does not receive that user's messages`() throws {
        let site = try TestSite()
        install(.ios, "phone", TestSite.token(1), on: site)
        install(.android, "tablet", "token:1", on: site)
        let body = #"{"platform":"ios","instId":"phone","deviceToken":"\#(TestSite.token(2))"}"#
        #expect(site.call(.post, "/api/register", as: "bob", body: body).status == .ok)
        let outcome = try send("pns=apns&to_tag=alice", on: site)
        #expect(try found("template", in: outcome, on: site) == ["apns": 1])
    }
}
