// SPDX-License-Identifier: Apache-2.0
import AppBackend
import Testing

@testable import Server

/// The keys of issuers, roles and webhooks.
extension ConfigurationValueTests {
    static let accessRows: [Row] = [
        issuer("issuer", "", "https://id.example/") { $0.issuer },
        issuer("prefix", "", "id") { $0.prefix },
        issuer("audience", "", "backend") { $0.audiences.joined(separator: ",") },
        issuer("authorizedParty", #", "auth.issuers.authorizedParty": ["app", "site"]"#, "app,site") {
            $0.authorizedParties.joined(separator: ",")
        },
        issuer("userClaim", #", "auth.issuers.userClaim": "oid""#, "oid") { $0.userClaim },
        issuer("rolesClaim", #", "auth.issuers.rolesClaim": "groups", "roles.name": "editor""#, "groups,editor") {
            ([$0.rolesClaim ?? "none"] + $0.roles).joined(separator: ",")
        },
        issuer("jwksFile", #", "auth.issuers.jwksFile": "keys.json""#, "keys.json") {
            if case .file(let path) = $0.keys { name(of: path) } else { "no file" }
        },
        issuer("jwksUrl", #", "auth.issuers.jwksUrl": "https://id.example/keys""#, "https://id.example/keys") {
            if case .address(let url) = $0.keys { "\(url)" } else { "no address" }
        },
        issuer("caFile", #", "auth.issuers.caFile": "ca.pem""#, "ca.pem") { name(of: $0.caFile) },
        Row("roles.name", "", #""roles.name": "app:editor""#, "app:editor") { roles($0, \.name) },
        Row("roles.tags", "", #""roles.name": "a", "roles.tags": ["press", "from:*"]"#, "press from:*") {
            roles($0) { $0.tags.joined(separator: " ") }
        },
        Row("roles.sendTo", "", #""roles.name": "a", "roles.sendTo": ["tag:*", "b"]"#, "tag:* b") {
            roles($0) { $0.sendTo.joined(separator: " ") }
        },
        Row("roles.broadcast", "", #""roles.name": "a", "roles.broadcast": true"#, "true") {
            roles($0) { "\($0.mayBroadcast)" }
        },
        Row("roles.administer", "", #""roles.name": "a", "roles.administer": true"#, "true") {
            roles($0) { "\($0.administers)" }
        },
        Row("users.roles", "", #""roles.name": "a", "users.roles": ["a", "a"]"#, "a") {
            $0.policy.newUserRoles.joined(separator: ",")
        },
        webhook("url", "", "hook.example:443,false") { "\($0.hostAndPort),\($0.isPlain)" },
        webhook("secret", "", "webhooks") { $0.group },
        webhook("events", #", "webhooks.events": ["device.removed"]"#, "webhooks") { $0.group },
        webhook("private", #", "webhooks.private": true"#, "true") { "\($0.isPrivate)" },
        Row(
            "webhooks.secretFile", "none",
            #""webhooks.url": "http://127.0.0.1:9000/hook", "webhooks.secretFile": "hook""#, "true,true"
        ) { $0.webhooks.first.map { "\($0.isPlain),\($0.isPrivate)" } ?? "none" },
    ]

    static let webhookSecret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

    private static func webhook(
        _ key: String, _ members: String, _ set: String,
        _ read: @escaping @Sendable (SiteConfiguration.Webhook) -> String
    ) -> Row {
        let needed = #""webhooks.url": "https://hook.example/a?b=c", "webhooks.secret": "\#(webhookSecret)""#
        return Row("webhooks.\(key)", "none", needed + members, set) { $0.webhooks.first.map(read) ?? "none" }
    }

    private static func issuer(
        _ key: String, _ members: String, _ set: String,
        _ read: @escaping @Sendable (SiteConfiguration.Issuer) -> String
    ) -> Row {
        let needed =
            #""auth.issuers.issuer": "https://id.example/", "auth.issuers.prefix": "id", "auth.issuers.audience": ["backend"]"#
        return Row("auth.issuers.\(key)", "none", needed + members, set) { $0.issuers.first.map(read) ?? "none" }
    }

    private static func roles(_ configuration: SiteConfiguration, _ read: (Role) -> String) -> String {
        configuration.policy.roles.map(read).joined(separator: ",")
    }

    @Test func `roles may be a list, and what one does not say it does not grant`() throws {
        let written = try WrittenConfiguration(
            #"{ "store.path": "/s", "roles": [{ "name": "a", "sendTo": ["x"] }, { "name": "b", "tags": ["y"] }] }"#)
        #expect(written.faults.isEmpty)
        #expect(
            written.configuration?.policy.roles == [Role(name: "a", sendTo: ["x"]), Role(name: "b", tags: ["y"])])
    }

    @Test func `to trust an issuer is enough for its tokens to be a method, unless a list says which are`() throws {
        let issuer = #"{ "issuer": "https://id.example", "prefix": "id", "audience": ["b"] }"#
        func methods(_ more: String) throws -> [AuthenticationMethod]? {
            let written = try WrittenConfiguration(
                #"{ "store.path": "/s", "auth": { "issuers": \#(issuer) \#(more) } }"#)
            #expect(written.faults.isEmpty)
            return written.configuration?.authenticationMethods
        }
        #expect(try methods("") == [.password, .token, .session, .bearer])
        #expect(try methods(#", "method": "users""#) == [.password, .token, .session, .bearer])
        #expect(try methods(#", "methods": ["bearer"]"#) == [.bearer])
        #expect(try WrittenConfiguration(#"{ "store.path": "/s", "auth.issuers": [] }"#).faults.isEmpty)
    }
}
