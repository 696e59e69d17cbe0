// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import HTTP
import HTTPTypes
import Testing
import Text

/// Which ways of saying who one is count, and in which order.
struct AuthenticationMethodTests {
    @Test func `without a method the site knows no user by it`() throws {
        let site = try TestSite()
        let cookie = try site.page(of: "alice").cookie
        func status(_ method: HTTPRequest.Method, _ path: String, _ fields: HTTPFields, _ on: Backend) -> Int {
            site.call(method, path, as: fields[.cookie] == nil ? "alice" : nil, fields: fields, on: on).status.code
        }
        let passwords = try site.neighbour { $0.authenticationMethods = [.password] }
        #expect(status(.get, "/api/register", [:], passwords) == 200)
        #expect(status(.get, "/api/register", [.cookie: cookie ?? ""], passwords) == 401)
        // There are no such routes then.
        #expect(status(.post, "/api/session", [:], passwords) == 404)
        let sessions = try site.neighbour { $0.authenticationMethods = [.session] }
        #expect(status(.get, "/api/register", [:], sessions) == 401)
        #expect(status(.get, "/api/register", [.cookie: cookie ?? ""], sessions) == 200)
        #expect(status(.post, "/api/session", [:], sessions) == 401)
    }

    @Test func `the web server's word counts where it is a method, in the order of the methods`() throws {
        let site = try TestSite()
        func status(
            _ user: String?, _ methods: [AuthenticationMethod], fields: HTTPFields = [:],
            method: HTTPRequest.Method = .get
        ) throws -> Int {
            var request = Request(
                method: method, authority: "backend.test", path: "/api/register", fields: fields, id: "test")
            request.authenticatedUser = user
            return try site.neighbour { $0.authenticationMethods = methods }.respond(to: request).status.code
        }
        #expect(try status("alice", [.password, .session]) == 401)
        #expect(try status("alice", [.webServer]) == 200 && status("ALICE", [.webServer]) == 200)
        for name in ["nosuch", "", "a b", nil] { #expect(try status(name, [.webServer]) == 401) }
        let wrong: HTTPFields = [.authorization: "Basic YWxpY2U6d3Jvbmc="]
        #expect(try status("alice", [.webServer, .password], fields: wrong) == 200)
        #expect(try status("alice", [.password, .webServer], fields: wrong) == 401)
        let foreign = HTTPFields(["Sec-Fetch-Site": "cross-site"])
        #expect(try status("alice", [.webServer], fields: foreign, method: .post) == 403)
        #expect(try status("alice", [.webServer], method: .post) == 200)
        try site.change("alice") { $0.disabledAt = Timestamp(seconds: 0) }
        #expect(try status("alice", [.webServer]) == 401)
    }

    @Test(arguments: [[AuthenticationMethod.password, .session], [.session, .password]])
    func `credentials count and the cookie beside them does not, whichever is first`(
        _ methods: [AuthenticationMethod]
    ) throws {
        let site = try TestSite(adjusting: { $0.authenticationMethods = methods })
        let cookie = try site.page(of: "alice").cookie
        #expect(site.call(.get, "/api/register", fields: [.cookie: cookie ?? ""]).status == .ok)
        for credentials in ["Basic YWxpY2U6d3Jvbmc=", "Basic %%%", "Bearer abc", "Negotiate"] {
            let fields: HTTPFields = [.cookie: cookie ?? "", .authorization: credentials]
            #expect(site.call(.get, "/api/register", fields: fields).status == .unauthorized, "\(credentials)")
        }
    }
}
