// SPDX-License-Identifier: Apache-2.0
internal import HTTP
package import Push
package import Text

/// Who the operator is at WNS. There are two ways to sign in, and a channel takes the tokens of one of them only.
///
/// The secret prints as `***`.
package struct WNSCredential: Sendable {
    /// Where tokens are fetched for an app of the Partner Center.
    package static let partnerCenterEndpoint = "https://login.live.com/accesstoken.srf"
    private static let identifierPrefix = "ms-app://"

    /// What tells the app from others: the client's id, or the package SID without what is in front.
    package let app: String
    private let clientID: String
    private let secret: Secret
    private let scope: String
    private let url: ServiceURL

    /// Of an app of the Partner Center (UWP), which is what Azure's hub keeps.
    /// - Parameters:
    ///   - packageSID: `ms-app://s-1-15-2-…`, or without what is in front.
    ///   - endpoint: where tokens are fetched; nil: `partnerCenterEndpoint`.
    /// - Throws: `WNSCredentialError`.
    package static func partnerCenter(
        packageSID: String, secret: Secret, endpoint: String? = nil
    ) throws(WNSCredentialError) -> WNSCredential {
        let lower = packageSID.lowercased()
        let hasPrefix = lower.hasPrefix(identifierPrefix)
        let sid = hasPrefix ? lower.dropFirst(identifierPrefix.count) : lower[...]
        guard sid.hasPrefix("s-1-15-2-"), sid.utf8.allSatisfy({ ASCII.isDigit($0) || "s-".utf8.contains($0) })
        else { throw WNSCredentialError("packageSid", "must be ms-app://s-1-15-2- and seven numbers") }
        return try WNSCredential(
            clientID: hasPrefix ? packageSID : identifierPrefix + packageSID, secret: secret,
            scope: "notify.windows.com", endpoint: endpoint ?? partnerCenterEndpoint)
    }

    /// Of an app registration in Microsoft Entra (Windows App SDK).
    /// - Parameters:
    ///   - clientID: the application's id.
    ///   - tenant: id or domain of the directory that has the registration.
    ///   - endpoint: where tokens are fetched; nil: the tenant's own address.
    /// - Throws: `WNSCredentialError`.
    package static func entra(
        clientID: String, tenant: String, secret: Secret, endpoint: String? = nil
    ) throws(WNSCredentialError) -> WNSCredential {
        guard isName(clientID) else { throw WNSCredentialError("clientId", "must be the application's id, a GUID") }
        guard isName(tenant) else { throw WNSCredentialError("tenant", "must be the directory's id or domain") }
        return try WNSCredential(
            clientID: clientID, secret: secret, scope: "https://wns.windows.com/.default",
            endpoint: endpoint ?? "https://login.microsoftonline.com/\(tenant)/oauth2/v2.0/token")
    }

    private init(clientID: String, secret: Secret, scope: String, endpoint: String) throws(WNSCredentialError) {
        guard !secret.reveal().isEmpty else { throw WNSCredentialError("secret", "is empty") }
        guard let url = ServiceURL(endpoint), url.scheme == "https" else {
            throw WNSCredentialError("tokenEndpoint", "must be an https address")
        }
        (self.clientID, self.secret, self.scope, self.url) = (clientID, secret, scope, url)
        let isPackage = clientID.lowercased().hasPrefix(Self.identifierPrefix)
        app = isPackage ? String(clientID.dropFirst(Self.identifierPrefix.count)) : clientID
    }

    /// How a token is fetched.
    package var tokenSource: any TokenSource {
        WNSTokens(endpoint: TokenEndpoint(url, secrets: [secret]), clientID: clientID, secret: secret, scope: scope)
    }

    private static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { ASCII.isAlphanumeric($0) || "-.".utf8.contains($0) }
    }
}

/// Which setting of a credential is wrong. It never repeats its value.
package struct WNSCredentialError: Error, Equatable, CustomStringConvertible {
    /// `packageSid`.
    package let setting: String
    package let reason: String

    init(_ setting: String, _ reason: String) {
        (self.setting, self.reason) = (setting, reason)
    }

    package var description: String { "\(setting): \(reason)" }
}

/// Signs in with a client's id and secret (RFC 6749 section 4.4).
private struct WNSTokens: TokenSource {
    let endpoint: TokenEndpoint
    let clientID: String
    let secret: Secret
    let scope: String

    func fetch(
        by sender: any RequestSender, _ completion: @escaping @Sendable (Result<AccessToken, CredentialError>) -> Void
    ) {
        let request = endpoint.request([
            "grant_type": "client_credentials", "client_id": clientID, "client_secret": secret.reveal(), "scope": scope,
        ])
        sender.send(request) { [endpoint] in completion(endpoint.token(in: $0)) }
    }
}
