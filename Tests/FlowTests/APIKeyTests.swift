// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import HTTP
import HTTPTypes
import Testing

/// The header field `apikey`: an app token, at the routes of the tutorial for .NET MAUI alone.
struct APIKeyTests {
    private let site: TestSite

    init() throws { site = try TestSite() }

    private static let installation =
        #"{"installationId":"one","platform":"apns","pushChannel":"\#(TestSite.token(1))"}"#

    /// What the three routes answer.
    private func statuses(_ key: String?, fields: HTTPFields = [:], on site: TestSite? = nil) -> [Int] {
        var fields = fields
        fields[named: "apikey"] = key
        let calls: [(HTTPRequest.Method, String, String)] = [
            (.put, Path.installations, Self.installation), (.delete, Path.installations + "/one", ""),
            (.post, Path.requests, #"{"text":"Hi"}"#),
        ]
        return calls.map { (site ?? self.site).call($0.0, $0.1, body: $0.2, fields: fields).status.code }
    }

    @Test func `an app token is a key, with its scopes, until it ends`() throws {
        let key = try site.appToken()
        #expect(statuses(key) == [200, 200, 200])
        #expect(statuses(try site.appToken(#"{"Scopes":["register"]}"#)) == [200, 200, 403])
        #expect(statuses(try site.appToken(#"{"Scopes":["send"]}"#)) == [403, 403, 200])
        #expect(statuses(try site.appToken(#"{"Scopes":["read"]}"#)) == [403, 403, 403])
        for token in try site.store.appTokens(owner: "alice", now: .init(seconds: site.clock.seconds)) {
            #expect(site.call(.delete, "\(Path.tokens)/\(token.id)", as: "alice").status == .ok)
        }
        #expect(statuses(key) == [401, 401, 401])
    }

    @Test func `a wrong key and a missing one are 401`() throws {
        let key = try site.appToken()
        let wrong = String(key.dropLast()) + (key.hasSuffix("A") ? "E" : "A")
        for key in [nil, "", "123-456", "abt_", wrong, key + "x", "Bearer " + key, "\(key), \(key)"] {
            #expect(statuses(key) == [401, 401, 401], "\(key ?? "none")")
            site.clock.advance(61)
        }
        #expect(try site.store.devices(owner: "alice").isEmpty && site.hub.messages.isEmpty)
    }

    @Test func `at other routes it says nothing`() throws {
        let key = try site.appToken(#"{"Scopes":["register","send","read"]}"#)
        var fields = HTTPFields()
        fields[named: "apikey"] = key
        for path in [Path.register, Path.notifications, Path.inbox, Path.notifications + "/7", Path.tokens] {
            #expect(site.call(.get, path, fields: fields).status == .unauthorized)
        }
        #expect(
            site.call(.post, Path.notifications, body: #"{"To":"bob","Body":"Hi"}"#, fields: fields).status
                == .unauthorized)
        // In the query, which logs keep, it is ignored.
        #expect(site.call(.post, Path.requests, query: "apikey=\(key)", body: #"{"text":"a"}"#).status == .unauthorized)
    }

    @Test func `beside Authorization it says nothing`() throws {
        let (right, wrong) = (try site.appToken(), "abt_wrong")
        #expect(statuses(right, fields: [.authorization: "Bearer \(wrong)"]) == [401, 401, 401])
        #expect(statuses(wrong, fields: [.authorization: "Bearer \(right)"]) == [200, 200, 200])
    }

    @Test func `a page's cookie does not make a wrong key good, and a foreign page's key is refused`() throws {
        let page = try site.page(of: "alice")
        var fields = HTTPFields()
        fields[named: "apikey"] = "123-456"
        #expect(try page.call(.delete, Path.installations + "/one").status == .ok)
        fields[.cookie] = page.cookie
        fields[named: "Sec-Fetch-Site"] = "same-origin"
        #expect(site.call(.delete, Path.installations + "/one", fields: fields).status == .unauthorized)
        let foreign = HTTPFields(["Sec-Fetch-Site": "cross-site"])
        #expect(statuses(try site.appToken(), fields: foreign) == [403, 403, 403])
    }

    @Test func `where app tokens are no method there is no key, and an issuer's token is a wrong one`() throws {
        let issuer = TestIssuer("https://id.example")
        let other = try TestSite(adjusting: { issuer.trust(in: &$0) })
        let token = try issuer.token("alice")
        #expect(statuses(nil, fields: [.authorization: "Bearer \(token)"], on: other) == [200, 200, 200])
        #expect(statuses(token, on: other) == [401, 401, 401])
        #expect(statuses(try other.appToken(), on: other) == [200, 200, 200])
        let without = try TestSite(adjusting: { $0.authenticationMethods = [.password] })
        #expect(statuses(try site.appToken(), on: without) == [401, 401, 401])
    }

    @Test func `wrong keys are counted as wrong app tokens are`() throws {
        for _ in 1...3 { _ = statuses("123-456") }
        #expect(statuses("123-456") == [401, 429, 429])
        #expect(statuses(try site.appToken()) == [200, 200, 200])
    }

    @Test func `the words of the new paths are no ids of messages`() throws {
        for (path, allowed) in [
            (Path.installations, "PUT"), (Path.requests, "POST"), (Path.installations + "/1", "DELETE"),
        ] {
            for method in [HTTPRequest.Method.get, .delete, .post, .put] where method.rawValue != allowed {
                let answer = site.call(method, path, as: "alice")
                #expect(answer.status == .methodNotAllowed && answer.fields[.allow] == allowed, "\(method) \(path)")
            }
        }
    }
}
