// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import JSON
import NotificationHub
import Testing

/// The answer to a send that the hub takes on some platforms, or on none.
struct OutcomeTests {
    /// What the hub does with the messages of one format.
    enum Trouble: Sendable {
        case answers(Response)
        case isGone
    }

    static let refused = Trouble.answers(Response(status: .badRequest))

    /// A site whose hub has trouble with some formats and is itself with the others.
    static func site(platforms: [Platform] = [.apns, .fcm, .wns, .browser], _ troubles: [String: Trouble]) throws
        -> TestSite
    {
        try TestSite(
            platforms: platforms,
            surroundingHub: { hub in
                ClosureResponder { request in
                    switch request.fields[.format].flatMap({ troubles[$0] }) {
                    case .answers(let response): return response
                    case .isGone: throw NoAnswer()
                    case nil: return try hub.respond(to: request)
                    }
                }
            })
    }

    private func sendSecure(_ site: TestSite) -> Response {
        site.call(.post, "/api/notifications", query: "to_tag=alice", as: "bob", body: #""the launch code""#)
    }

    @Test func `a platform that fails is listed beside those that took it, and the send is a success`() throws {
        let site = try Self.site(["fcmv1": Self.refused])
        let response = sendSecure(site)
        #expect(response.status == .ok)
        let outcome = try SendOutcome(response)
        #expect(outcome.outcomes.map(\.platform) == ["apns", "fcm", "wns", "browser"])
        #expect(outcome.outcomes.map(\.state) == ["NoTargetFound", "Abandoned", "NoTargetFound", "NoTargetFound"])
        #expect(outcome.outcomes.map { $0.notificationID != nil } == [true, false, true, true])
        #expect(outcome.outcomes.map(\.error) == [nil, "The hub refused.", nil, nil])
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let trouble: Trouble
        let status: Int
        var retryAfter: String?

        var testDescription: String { "\(status)" }
    }

    static let rows = [
        Row(trouble: refused, status: 502),
        Row(
            trouble: .answers(Response(status: .tooManyRequests, fields: [.retryAfter: "9"])), status: 429,
            retryAfter: "9"),
        Row(trouble: .isGone, status: 503, retryAfter: "5"),
    ]

    @Test(arguments: rows) func `when no platform took it, the failure has the outcomes and the secret stays`(
        row: Row
    ) async throws {
        let formats = ["apple", "fcmv1", "windows", "browser"]
        let site = try Self.site(Dictionary(uniqueKeysWithValues: formats.map { ($0, row.trouble) }))
        let response = sendSecure(site)
        #expect(response.status.code == row.status)
        #expect(response.fields[.retryAfter] == row.retryAfter)
        #expect(response.fields[.contentType] == Problem.contentType)
        let body = try JSONValue(parsing: response.body)
        #expect(body["status"]?.integer == row.status)
        #expect(body["detail"]?.string?.isEmpty == false)
        let outcome = try SendOutcome(response)
        #expect(outcome.outcomes.map(\.platform) == ["apns", "fcm", "wns", "browser"])
        #expect(outcome.outcomes.allSatisfy { $0.state == "Abandoned" && $0.error == body["detail"]?.string })
        #expect(outcome.outcomes.allSatisfy { $0.notificationID == nil })

        let id = try #require(outcome.id)
        let own = try SecureMessage(site.call(.get, "/api/notifications/\(id)", as: "alice"))
        #expect(own.payload == "the launch code" && !own.isRead)
        #expect(site.call(.get, "/api/notifications/\(id)", as: "bob").status == .notFound)
    }

    @Test func `the first failure names the status when platforms fail in different ways`() throws {
        let slow = Trouble.answers(Response(status: .tooManyRequests, fields: [.retryAfter: "9"]))
        let site = try Self.site(platforms: [.fcm, .apns], ["fcmv1": slow, "apple": Self.refused])
        let response = sendSecure(site)
        #expect(response.status == .tooManyRequests)
        #expect(try SendOutcome(response).outcomes.map(\.platform) == ["fcm", "apns"])
    }

    @Test func `a plain send that failed is a problem with its one outcome and without an id`() throws {
        let site = try Self.site(["apple": Self.refused])
        let response = site.call(
            .post, "/api/notifications", query: "pns=apns&to_tag=alice", as: "bob", body: #""Hello""#)
        #expect(response.status == .badGateway)
        let outcome = try SendOutcome(response)
        #expect(outcome.id == nil)
        #expect(outcome.outcomes.map(\.state) == ["Abandoned"])
    }

    @Test func `a site that sends to one platform neither tries nor names the others`() throws {
        let site = try TestSite(platforms: [.apns])
        let outcome = try SendOutcome(sendSecure(site))
        #expect(outcome.outcomes.map(\.platform) == ["apns"])
        #expect(site.hub.messages.map(\.format) == ["apple"])

        let response = site.call(
            .post, "/api/notifications", query: "pns=fcm&to_tag=alice", as: "bob", body: #""Hello""#)
        #expect(Problem(response).code == .unknownPlatform)
        #expect(site.hub.messages.count == 1)
    }

    @Test func `after one platform found the hub out of reach the others are not tried`() throws {
        let site = try Self.site(["apple": .isGone])
        let response = sendSecure(site)
        #expect(response.status == .serviceUnavailable)
        #expect(site.hub.messages.map(\.format) == ["apple"])
        let outcome = try SendOutcome(response)
        #expect(outcome.outcomes.map(\.state) == ["Abandoned", "Abandoned", "Abandoned", "Abandoned"])
    }

    @Test func `what was taken before the hub went out of reach is answered`() throws {
        let site = try Self.site(["fcmv1": .isGone])
        let response = sendSecure(site)
        #expect(response.status == .ok)
        #expect(site.hub.messages.map(\.format) == ["apple", "fcmv1"])
        let outcome = try SendOutcome(response)
        #expect(outcome.outcomes.map(\.state) == ["NoTargetFound", "Abandoned", "Abandoned", "Abandoned"])
        #expect(outcome.outcomes.dropFirst().allSatisfy { $0.error == "The hub cannot be reached." })
    }

    @Test func `a hub that goes out of reach behind a refusal is not tried again either`() throws {
        let site = try Self.site(["apple": Self.refused, "fcmv1": .isGone])
        let response = sendSecure(site)
        #expect(response.status == .badGateway)
        #expect(site.hub.messages.map(\.format) == ["apple", "fcmv1"])
    }
}
