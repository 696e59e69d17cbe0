// SPDX-License-Identifier: Apache-2.0
import JWT
import Server

/// Judges whether the keys of an issuer of tokens can be fetched.
struct IssuerFindings: Sendable {
    let setting: SettingName

    /// - Parameter answer: how many keys there are, or why there are none; nil: no answer in time.
    func finding(_ issuer: SiteConfiguration.Issuer, _ answer: Result<Int, KeyError>?) -> Finding {
        switch answer {
        case nil:
            .fail("\(issuer.issuer): no answer in time", fix: "the network; --timeout; \(setting(place(issuer)))")
        case .success(let count):
            .ok("\(issuer.issuer): \(count) \(count == 1 ? "key" : "keys") to verify its tokens by")
        case .failure(let error): .fail("\(issuer.issuer): \(error)", fix: fix(issuer, error))
        }
    }

    private func fix(_ issuer: SiteConfiguration.Issuer, _ error: KeyError) -> String {
        switch error {
        case .unanswered:
            "the network and its firewall; \(setting(place(issuer))); behind a proxy that opens TLS, or for a private "
                + "authority, \(issuer.group).caFile"
        case .foreignIssuer: "\(setting("\(issuer.group).issuer")): as the document says it, byte for byte"
        case .badKeyAddress: "\(setting("\(issuer.group).jwksUrl")) says where its keys are"
        case .status, .notADiscoveryDocument, .unreadableFile, .tooLarge, .notAKeySet, .tooManyKeys, .noUsableKey:
            setting(place(issuer))
        }
    }

    /// The key of the configuration that says where the issuer's keys are.
    private func place(_ issuer: SiteConfiguration.Issuer) -> String {
        switch issuer.keys {
        case .file: "\(issuer.group).jwksFile"
        case .address: "\(issuer.group).jwksUrl"
        case .discovery: "\(issuer.group).issuer"
        }
    }
}
