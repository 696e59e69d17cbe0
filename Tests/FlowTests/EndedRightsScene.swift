// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import Foundation
import HTTP
import HTTPTypes
import JSON
import NotificationHub
import Store
import Testing
import Text

/// A site at which alice is given rights, and they end.
struct EndedRightsScene {
    typealias Right = EndedRightsTests.Right
    /// Whether the right is still there. Takes alice's password of the moment.
    typealias Holds = (String) throws -> Bool

    private static let users = AdministrationTests.users
    private static let another = "another-secret"

    let site: TestSite
    let policy: TagPolicy

    // MARK: Rights

    func begin(_ right: Right) throws -> Holds {
        switch right {
        case .session:
            let page = try site.page(of: "alice")
            return { _ in try page.isKnown }
        case .token:
            let token = try token()
            return { _ in site.call(.get, Path.register, fields: token).status == .ok }
        case .recipientOfToken:
            let token = try token(#","To":["bob"]"#)
            return { _ in site.send(PushMessage(to: "bob", body: "Hi"), fields: token).status == .ok }
        case .scheduledMessage: return try schedule()
        case .rememberedPassword:
            return { _ in call(.get, Path.register, "alice-secret").status == .ok }
        case .device: return try reachedDevice("alice")
        case .tagOfRole: return try reachedDevice("role:staff")
        case .claimedTag: return try reachedDevice("tag:press")
        case .idempotencyKey: return try keptAnswer()
        case .secret:
            let id = try site.leaveSecret("47 11", for: "alice", from: "root")
            return { call(.get, "\(Path.notifications)/\(id)", $0).status == .ok }
        case .outcome:
            let id = try site.sendMessage(to: #""bob""#, from: "alice")
            return { call(.get, "\(Path.notifications)/\(id)/timeline", $0).status == .ok }
        case .webhookEvent: return try event()
        case .administration:
            return { password in
                let page = TestPage(site.backend)
                try page.logIn("alice", password: password)
                return try page.call(.get, Self.users).status == .ok
            }
        }
    }

    private func call(
        _ method: HTTPRequest.Method, _ path: String, _ password: String, body: String = "", fields: HTTPFields = [:]
    ) -> Response {
        var fields = fields
        fields[.authorization] = "Basic " + Data("alice:\(password)".utf8).base64EncodedString()
        return site.call(method, path, body: body, fields: fields)
    }

    private func token(_ members: String = "") throws -> HTTPFields {
        let token = try site.appToken(#"{"Scopes":["send","register"]\#(members)}"#)
        return [.authorization: "Bearer \(token)"]
    }

    private func schedule() throws -> Holds {
        let message = PushMessage(to: "bob", body: "Hi", platforms: ["apns"], sendAt: site.time(60))
        let answer = site.send(message, fields: try token())
        let id = try #require(try SendOutcome(answer).messageID)
        return { _ in
            site.clock.advance(60)
            _ = try site.sendDue()
            return try site.store.sentMessage(id, now: Timestamp(seconds: site.clock.seconds))?.outcomes
                .contains { $0.state != "Abandoned" } == true
        }
    }

    private func reachedDevice(_ recipient: String) throws -> Holds {
        let token = try token()
        let id = try JSONValue(parsing: site.call(.post, Path.register, fields: token).body).string ?? ""
        let body = DeviceRegistration(platform: "apns", handle: TestSite.token(1), tags: ["press"]).json
        let answer = site.call(
            .put, "\(Path.register)/\(id)", body: String(decoding: body, as: UTF8.self), fields: token)
        guard answer.status == .ok else { throw Problem(answer) }
        let message = PushMessage(to: .one(recipient), body: "Hi", platforms: ["apns"])
        return { _ in try site.devices(of: site.send(message, as: "root")) == 1 }
    }

    private func keptAnswer() throws -> Holds {
        let key = HTTPFields(["Idempotency-Key": "k-1"])
        let send = { call(.post, Path.notifications, $0, body: #"{"To":"bob","Body":"Hi"}"#, fields: key) }
        #expect(send("alice-secret").status == .ok)
        return { send($0).isReplayed }
    }

    private func event() throws -> Holds {
        _ = try site.sendMessage(#""Body":"47 11","Secure":true"#, to: #""bob""#, from: "alice")
        let list = try JSONValue(parsing: site.call(.get, Path.notifications, as: "bob").body)
        let id = try #require(list.array?.first?["Id"]?.integer)
        #expect(site.call(.get, "\(Path.notifications)/\(id)", as: "bob").status == .ok)
        return { _ in
            try site.store.waiting(in: .webhookEvents).contains { $0.document["source"]?.string == "alice" }
        }
    }

    // MARK: Ends

    /// - Returns: alice's password afterwards.
    func make(_ end: EndedRightsTests.End) throws -> String {
        switch end {
        case .passwordChanged, .passwordRenewed:
            let keep = end == .passwordRenewed
            let body = #"{"Password":"alice-secret","NewPassword":"\#(Self.another)","KeepTokens":\#(keep)}"#
            try expectDone(call(.put, Path.password, "alice-secret", body: body))
            return Self.another
        case .disabled: try administer(.post, "/alice/disable")
        case .enabledAgain:
            try administer(.post, "/alice/disable")
            try administer(.post, "/alice/enable")
        case .removed: try administer(.delete, "/alice")
        case .replaced:
            try administer(.delete, "/alice")
            try administer(.post, "", body: AdministrationTests.adding("alice", #""Roles":["staff"]"#))
            try site.change("alice") { $0.passwordHash = try TestSite.passwordHash(of: "another") }
            return Self.another
        case .rolesTaken:
            var user = try #require(try site.store.user("alice"))
            user.roles = []
            let change = try #require(try site.upkeep(policy).change(user))
            #expect(change.failure == nil)
        case .tokenEnded:
            for token in try site.store.appTokens(owner: "alice", now: Timestamp(seconds: 0)) {
                try expectDone(call(.delete, "\(Path.tokens)/\(token.id)", "alice-secret"))
            }
        case .loggedOutEverywhere:
            try expectDone(
                try site.page(of: "alice").call(.delete, Path.session, query: "everywhere=true"))
        case .recipientReplaced:
            try administer(.delete, "/bob")
            try administer(.post, "", body: AdministrationTests.adding("bob"))
        }
        return "alice-secret"
    }

    /// As root does it at the page.
    private func administer(
        _ method: HTTPRequest.Method, _ path: String, body: String = AdministrationTests.own
    ) throws {
        try expectDone(try site.page(of: "root").call(method, Self.users + path, body: body))
    }

    private func expectDone(_ answer: Response) throws {
        guard answer.status == .ok else { throw Problem(answer) }
    }
}
