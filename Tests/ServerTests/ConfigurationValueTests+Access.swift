// SPDX-License-Identifier: Apache-2.0
import AppBackend

@testable import Server

/// The keys of issuers, roles and webhooks.
extension ConfigurationValueTests {
    static let accessRows: [Row] = [
        issuer("issuer", trusted["auth.issuers.issuer"], "https://id.example/") { $0.issuer },
        issuer("prefix", trusted["auth.issuers.prefix"], "id") { $0.prefix },
        issuer("audience", trusted["auth.issuers.audience"], "backend") { $0.audiences.joined(separator: ",") },
        issuer("authorizedParty", #"["app", "site"]"#, "app,site") { $0.authorizedParties.joined(separator: ",") },
        issuer("userClaim", #""oid""#, "oid") { $0.userClaim },
        issuer("rolesClaim", #""groups""#, "groups,editor", with: ["roles.name": #""editor""#]) {
            ([$0.rolesClaim ?? "none"] + $0.roles).joined(separator: ",")
        },
        issuer("jwksFile", #""keys.json""#, "keys.json") {
            if case .file(let path) = $0.keys { name(of: path) } else { "no file" }
        },
        issuer("jwksUrl", #""https://id.example/keys""#, "https://id.example/keys") {
            if case .address(let url) = $0.keys { "\(url)" } else { "no address" }
        },
        issuer("caFile", #""ca.pem""#, "ca.pem") { name(of: $0.caFile) },
        role("name", #""app:editor""#, "app:editor") { $0.name },
        role("tags", #"["press", "from:*"]"#, "press from:*") { $0.tags.joined(separator: " ") },
        role("sendTo", #"["tag:*", "b"]"#, "tag:* b") { $0.sendTo.joined(separator: " ") },
        role("broadcast", "true", "true") { "\($0.mayBroadcast)" },
        role("administer", "true", "true") { "\($0.administers)" },
        Row("users.roles", "", #"["a", "a"]"#, "a", with: ["roles.name": #""a""#]) {
            $0.policy.newUserRoles.joined(separator: ",")
        },
        webhook("url", hook["webhooks.url"], "hook.example:443,false") { "\($0.hostAndPort),\($0.isPlain)" },
        webhook("secret", hook["webhooks.secret"], "webhooks") { $0.group },
        webhook("events", #"["device.removed"]"#, "webhooks") { $0.group },
        webhook("private", "true", "true") { "\($0.isPrivate)" },
        webhook("secretFile", #""hook""#, "true,true", with: ["webhooks.url": #""http://127.0.0.1:9000/hook""#]) {
            "\($0.isPlain),\($0.isPrivate)"
        },
    ]

    static let webhookSecret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
    private static let hook = [
        "webhooks.url": #""https://hook.example/a?b=c""#, "webhooks.secret": "\"\(webhookSecret)\"",
    ]
    private static let trusted = [
        "auth.issuers.issuer": #""https://id.example/""#, "auth.issuers.prefix": #""id""#,
        "auth.issuers.audience": #"["backend"]"#,
    ]

    private static func issuer(
        _ key: String, _ value: String?, _ set: String, with others: [String: String] = [:],
        _ read: @escaping @Sendable (SiteConfiguration.Issuer) -> String
    ) -> Row {
        Row("auth.issuers.\(key)", "none", value ?? "", set, with: trusted.merging(others) { $1 }) {
            $0.issuers.first.map(read) ?? "none"
        }
    }

    private static func role(
        _ key: String, _ value: String, _ set: String, _ read: @escaping @Sendable (Role) -> String
    ) -> Row {
        Row("roles.\(key)", "", value, set, with: ["roles.name": #""a""#]) {
            $0.policy.roles.map(read).joined(separator: ",")
        }
    }

    private static func webhook(
        _ key: String, _ value: String?, _ set: String, with others: [String: String] = hook,
        _ read: @escaping @Sendable (SiteConfiguration.Webhook) -> String
    ) -> Row {
        Row("webhooks.\(key)", "none", value ?? "", set, with: others) { $0.webhooks.first.map(read) ?? "none" }
    }
}
