// SPDX-License-Identifier: Apache-2.0
import JWT
import Server
import Testing

@testable import Commands

struct IssuerFindingsTests {
    private let judge = IssuerFindings(setting: SettingName(file: "/a.json"))

    private static func issuer(_ keys: SiteConfiguration.Issuer.Keys) -> SiteConfiguration.Issuer {
        SiteConfiguration.Issuer(
            group: "auth.issuers.1", issuer: "https://id.example", prefix: "id", audiences: ["backend"],
            authorizedParties: [], userClaim: "sub", keys: keys)
    }

    @Test func `keys that were fetched are right`() {
        let finding = judge.finding(Self.issuer(.discovery), .success(2))
        #expect(finding == .ok("https://id.example: 2 keys to verify its tokens by"))
        #expect(judge.finding(Self.issuer(.discovery), .success(1)).found.contains(": 1 key to"))
    }

    static let failures: [(Result<Int, KeyError>?, SiteConfiguration.Issuer.Keys, String)] = [
        (nil, .discovery, "auth.issuers.1.issuer in /a.json"),
        (.failure(.unanswered(kind: "timeout")), .discovery, "auth.issuers.1.issuer in /a.json"),
        (.failure(.unanswered(kind: "insecure")), .discovery, "auth.issuers.1.caFile"),
        (.failure(.foreignIssuer), .discovery, "auth.issuers.1.issuer in /a.json"),
        (.failure(.badKeyAddress), .discovery, "auth.issuers.1.jwksUrl in /a.json"),
        (.failure(.status(404)), .discovery, "auth.issuers.1.issuer in /a.json"),
        (.failure(.unreadableFile), .file("/keys.json"), "auth.issuers.1.jwksFile in /a.json"),
        (.failure(.notAKeySet), .file("/keys.json"), "auth.issuers.1.jwksFile in /a.json"),
    ]

    @Test(arguments: failures) func `without keys the setting is named that says where they are`(
        answer: Result<Int, KeyError>?, keys: SiteConfiguration.Issuer.Keys, setting: String
    ) {
        let finding = judge.finding(Self.issuer(keys), answer)
        #expect(finding.verdict == .fail && finding.found.hasPrefix("https://id.example: "))
        #expect(finding.fix?.contains(setting) == true)
    }
}
