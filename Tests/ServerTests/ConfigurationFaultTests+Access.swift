// SPDX-License-Identifier: Apache-2.0

/// Who may log in and what they may do: methods, issuers, roles, policy, other sites' pages.
extension ConfigurationFaultTests {
    static let accessRows: [Row] = [
        Row(#""auth": { "method": "none" }"#, "auth.method"), Row(#""auth": { "realm": "a\"b" }"#, "auth.realm"),
        Row(#""auth": { "methods": [] }"#, "auth.methods"), Row(#""auth": { "methods": ["ldap"] }"#, "auth.methods"),
        Row(#""auth": { "methods": "session" }"#, "auth.methods"),
        Row(#""auth": { "methods": ["web-server", "session"] }"#, "auth.methods"),
        Row(#""auth": { "methods": ["web-server"] }, "listen": "127.0.0.1:9000""#, "auth.methods"),
        Row(#""auth": { "methods": ["session"] }"#, "auth.methods"),
        Row(#""auth": { "methods": ["session", "password", "Password"] }"#, "auth.methods"),
        Row(#""auth": { "methods": ["password", "test"] }"#, "auth.methods"),
        Row(#""auth": { "method": "users", "methods": ["password"] }"#, "auth.method"),
        Row(#""auth": { "methods": ["bearer"] }"#, "auth.methods"),
        Row(#""roles": 1"#, "roles"), Row(#""roles": [1]"#, "roles"), Row(#""roles": ["editor"]"#, "roles"),
        Row(#""roles": [{ "sendTo": ["a"] }]"#, "roles.0.name"), Row(#""roles": [{ "name": "a,b" }]"#, "roles.0.name"),
        Row(#""roles": [{ "name": "\#(String(repeating: "a", count: 65))" }]"#, "roles.0.name"),
        Row(#""roles": [{ "name": "a" }, { "name": "a" }]"#, "roles.1.name"),
        Row(#""roles": [{ "name": "a" }, { "name": "A" }]"#, "roles.1.name"),
        Row(#""users": { "roles": ["a"] }"#, "users.roles"), Row(#""users": { "roles": "a" }"#, "users.roles"),
        Row(#""roles": [{ "name": "a" }], "users": { "roles": ["a", "A"] }"#, "users.roles"),
        Row(#""roles": [{ "name": "a", "administer": true }], "users": { "roles": ["a"] }"#, "users.roles"),
        Row(#""roles": [{ "name": "a", "claim": ["x"] }]"#, "roles.0.claim"),
        Row(#""roles": [{ "name": "a", "tags": "x" }]"#, "roles.0.tags"),
        Row(#""roles": [{ "name": "a", "tags": ["x y"], "sendTo": ["tag:a|b"] }]"#, "roles.0.tags", "roles.0.sendTo"),
        Row(#""policy": { "tags": ["news-*", "news/*"] }"#, "policy.tags"),
        Row(#""policy": { "sendTo": ["tag:news/*", "al ice"] }"#, "policy.sendTo", "policy.sendTo"),
        Row(#""roles": [{ "name": "a", "broadcast": "*" }]"#, "roles.0.broadcast"),
        Row(#""roles": [{ "name": "a", "administer": "maybe" }]"#, "roles.0.administer"),
        Row(#""roles": [\#((0...100).map { #"{ "name": "r\#($0)" }"# }.joined(separator: ", "))]"#, "roles"),
        Row(#""auth": { "issuers": 1 }"#, "auth.issuers"), Row(#""auth": { "issuers": [1] }"#, "auth.issuers"),
        Row(
            #""auth": { "issuers": [{ "issuer": "https://a.example" }] }"#, "auth.issuers.0.prefix",
            "auth.issuers.0.audience"),
        Row(issuers(issuer(#""jwks": 1"#)), "auth.issuers.0.jwks"),
        Row(issuers(issuer(#""prefix": "a.b""#)), "auth.issuers.0.prefix"),
        Row(issuers(issuer(#""audience": []"#)), "auth.issuers.0.audience"),
        Row(issuers(issuer(#""audience": ["a", ""]"#)), "auth.issuers.0.audience"),
        Row(issuers(issuer(#""audience": [], "authorizedParty": [""]"#)), "auth.issuers.0.audience"),
        Row(issuers(issuer(#""issuer": "example""#)), "auth.issuers.0.issuer"),
        Row(issuers(issuer(#""issuer": "http://a.example""#)), "auth.issuers.0.issuer"),
        Row(issuers(issuer(#""jwksUrl": "http://a.example/keys""#)), "auth.issuers.0.jwksUrl"),
        Row(issuers(issuer(#""jwksFile": "none.json""#)), "auth.issuers.0.jwksFile"),
        Row(
            issuers(issuer(#""jwksFile": "none.json", "jwksUrl": "https://a.example""#)), "auth.issuers.0.jwksUrl",
            "auth.issuers.0.jwksFile"),
        Row(issuers(issuer(#""caFile": "none.pem""#)), "auth.issuers.0.caFile"),
        Row(issuers(issuer(#""rolesClaim": "roles""#)), "auth.issuers.0.rolesClaim"),
        Row(issuers(issuer(""), issuer(#""prefix": "b""#)), "auth.issuers.1.issuer"),
        Row(issuers(issuer(""), issuer(#""issuer": "https://b.example""#)), "auth.issuers.1.prefix"),
        Row(issuers(issuer(""), more: #""methods": ["password"]"#), "auth.issuers"),
        Row(issuers(issuer(""), more: #""method": "test""#), "auth.issuers"),
        Row(issuers(issuer(""), more: #""methods": ["test", "bearer"]"#), "auth.issuers"),
        Row(
            issuers((0...32).map { issuer(#""issuer": "https://\#($0).example", "prefix": "p\#($0)""#) }),
            "auth.issuers"),
        Row(#""cors": { "origins": ["*"] }"#, "cors.origins"),
        Row(#""cors": { "origins": ["https://a.example", "https://b.example/"] }"#, "cors.origins"),
    ]

    /// A right issuer but for these members.
    private static func issuer(_ members: String) -> String {
        let usual = [
            ("issuer", #""https://a.example""#), ("prefix", #""a""#), ("audience", #"["backend"]"#),
        ].filter { !members.contains("\"\($0.0)\":") }.map { "\"\($0.0)\": \($0.1)" }
        return "{ \((usual + [members].filter { !$0.isEmpty }).joined(separator: ", ")) }"
    }

    private static func issuers(_ issuers: String..., more: String? = nil) -> String {
        Self.issuers(issuers, more: more)
    }

    private static func issuers(_ issuers: [String], more: String? = nil) -> String {
        let members = [#""issuers": [\#(issuers.joined(separator: ", "))]"#] + [more].compactMap(\.self)
        return #""auth": { \#(members.joined(separator: ", ")) }"#
    }
}
