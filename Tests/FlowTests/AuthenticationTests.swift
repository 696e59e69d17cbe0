// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import Foundation
import HTTP
import HTTPTypes
import Store
import Testing

struct AuthenticationTests {
    private func call(_ site: TestSite, _ pair: String, address: String = "192.0.2.1") -> Response {
        let value = "Basic " + Data(pair.utf8).base64EncodedString()
        return site.backend.respond(
            to: Request(
                method: .get, path: "/api/register", fields: [.authorization: value], remoteAddress: address, id: "test"
            ))
    }

    @Test func `of two fields with credentials none counts`() throws {
        let site = try TestSite(users: ["alice"])
        let value = "Basic " + Data("alice:alice-secret".utf8).base64EncodedString()
        let field = HTTPField(name: .authorization, value: value)
        func status(_ fields: [HTTPField]) -> HTTPResponse.Status {
            site.backend.respond(
                to: Request(method: .get, path: "/api/notifications", fields: HTTPFields(fields), id: "test")
            ).status
        }
        #expect(status([field]) == .ok)
        #expect(status([field, field]) == .unauthorized)
    }

    @Test func `too many wrong passwords are told to wait, and the user elsewhere is not locked out`() throws {
        let site = try TestSite(users: ["alice"])
        for _ in 0..<LoginThrottle.maximumFailures {
            #expect(call(site, "alice:wrong").status == .unauthorized)
        }
        let refused = call(site, "alice:wrong")
        #expect(refused.status == .tooManyRequests)
        #expect(refused.fields[.retryAfter] == "60")
        #expect(call(site, "alice:alice-secret").status == .tooManyRequests)
        #expect(call(site, "alice:alice-secret", address: "192.0.2.2").status == .ok)
        // Verified a moment ago: the credential cache is asked first.
        #expect(call(site, "alice:alice-secret").status == .ok)
        site.clock.advance(LoginThrottle.windowSeconds)
        #expect(call(site, "alice:wrong").status == .unauthorized)
    }

    @Test func `names that do not exist are counted and answered like those that do`() throws {
        let site = try TestSite(users: ["alice"])
        for _ in 0..<LoginThrottle.maximumFailures {
            #expect(call(site, "nosuch:wrong").body == call(site, "alice:wrong").body)
        }
        #expect(call(site, "nosuch:wrong").status == .tooManyRequests)
        #expect(call(site, "NoSuch:wrong").status == .tooManyRequests)
    }

    @Test func `a changed password ends the old one at once, and so does removal`() throws {
        let site = try TestSite(users: ["alice"])
        #expect(call(site, "alice:alice-secret").status == .ok)
        try site.change("alice") { $0.passwordHash = try PasswordHash.make("new") }
        #expect(call(site, "alice:alice-secret").status == .unauthorized)
        #expect(call(site, "alice:new").status == .ok)
        _ = try site.store.removeUser("alice")
        #expect(call(site, "alice:new").status == .unauthorized)
    }

    @Test func `a user is one person however the name is spelled`() throws {
        let site = try TestSite(users: ["alice"])
        #expect(call(site, "ALICE:alice-secret").status == .ok)
    }
}
