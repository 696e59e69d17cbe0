// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import Foundation
import HTTPTypes
import Testing

/// `GET /api/config` as a page meets it.
struct ConfigTests {
    @Test func `every caller gets what a page needs, in the order of the configuration`() throws {
        let key = String(repeating: "B", count: 87)
        let site = try TestSite(platforms: [.wns, .browser]) {
            $0.publicConfiguration = PublicConfiguration(vapidPublicKey: key, deliveringPlatforms: [.browser, .apns])
            $0.realm = "Contoso"
        }
        let answer = site.call(.get, "/api/config")
        #expect(answer.status == .ok && answer.fields[.cacheControl] == "no-cache")
        #expect(answer.fields[.contentType] == "application/json; charset=utf-8")
        let platforms = #"[{"Name":"wns","Delivers":false},{"Name":"browser","Delivers":true}]"#
        let expected =
            #"{"VapidPublicKey":"\#(key)","Platforms":\#(platforms),"Realm":"Contoso","MaximumMessageBytes":2500,"#
            + #""SecureOnly":false}"#
        #expect(String(decoding: answer.body, as: UTF8.self) == expected)
        #expect(site.call(.head, "/api/config").status == .ok)
        // Nor do wrong credentials matter, which a browser may have remembered.
        #expect(site.call(.get, "/API/Config/", fields: [.authorization: "Basic eDp5"]).body == answer.body)
        let refused = site.call(.post, "/api/config", as: "alice", body: "{}")
        #expect(refused.status == .methodNotAllowed && refused.fields[.allow] == "GET, HEAD")
    }

    @Test(arguments: ["\"k", "", "two words"])
    func `a malformed key is refused, and with a right one the rest is answered`(key: String) throws {
        let site = try TestSite()
        let field = try #require(HTTPField.Name("Idempotency-Key"))
        let refused = site.call(.get, "/api/config", fields: [field: key])
        #expect(refused.status == .badRequest && Problem(refused).field == "Idempotency-Key")
        #expect(site.call(.get, "/api/config", fields: [field: "\"k\""]).status == .ok)
    }

    @Test func `without a key and a driver it says so`() throws {
        let site = try TestSite(users: [], platforms: [.apns])
        let body = String(decoding: site.call(.get, "/api/config").body, as: UTF8.self)
        #expect(body.hasPrefix(#"{"VapidPublicKey":null,"Platforms":[{"Name":"apns","Delivers":false}],"#))
    }

    @Test(arguments: [true, false]) func `a page learns whether all is sent as a secret`(isSecureOnly: Bool) throws {
        let site = try TestSite(policy: TagPolicy(isSecureOnly: isSecureOnly))
        let body = String(decoding: site.call(.get, "/api/config").body, as: UTF8.self)
        #expect(body.hasSuffix(#""SecureOnly":\#(isSecureOnly)}"#))
    }

    @Test(arguments: ["apns", "fcm", "wns", "browser"])
    func `a message of the length that it names fits every platform`(platform: String) throws {
        let name = String(repeating: "漢", count: 111)
        let site = try TestSite(users: [name])
        // A third of them have to be escaped.
        let text = String(repeating: "ab\\n", count: PublicConfiguration.maximumMessageBytes / 3)
        let query = "pns=\(platform)&to_tag=x"
        #expect(site.call(.post, "/api/notifications", query: query, as: name, body: "\"\(text)\"").status == .ok)
    }
}
