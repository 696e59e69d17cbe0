// SPDX-License-Identifier: Apache-2.0
internal import HTTP
internal import JSON
internal import Push
internal import Text

/// A service account with a key of its own.
struct ServiceAccount: Sendable {
    let email: String
    let keyID: String
    let key: RSASigningKey
    let tokenURL: ServiceURL

    init(_ file: CredentialFile) throws(GoogleCredentialError) {
        // Of another universe of Google's, whose hosts are not below googleapis.com.
        if let universe = try file.optionalText("universe_domain"), universe != "googleapis.com" {
            throw file.fault("universe_domain", "must be googleapis.com")
        }
        email = try file.text("client_email")
        keyID = try file.text("private_key_id")
        tokenURL = try file.googleURL("token_uri")
        do {
            key = try RSASigningKey(pem: try file.text("private_key"))
        } catch let error as RSASigningKey.Malformed {
            throw file.fault("private_key", error.description)
        } catch let error as GoogleCredentialError {
            throw error
        } catch {
            throw file.fault("private_key", "is not an RSA key")
        }
    }
}

/// Signs in with a service account's key (RFC 7523).
struct ServiceAccountTokens: TokenSource {
    /// How long an assertion is good, in seconds; Google takes no more.
    static let lifetime: Int64 = 3600

    let account: ServiceAccount
    /// Seconds since 1970.
    let now: @Sendable () -> Int64

    func fetch(
        by sender: any RequestSender, _ completion: @escaping @Sendable (Result<AccessToken, CredentialError>) -> Void
    ) {
        guard let assertion = try? assertion() else { return completion(.failure(.unavailable)) }
        let endpoint = TokenEndpoint(account.tokenURL, secrets: [assertion])
        let request = endpoint.request([
            "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": assertion.reveal(),
        ])
        sender.send(request) { completion(endpoint.token(in: $0)) }
    }

    /// - Throws: what swift-crypto throws, for want of memory.
    private func assertion() throws -> Secret {
        let now = now()
        let (end, overflow) = now.addingReportingOverflow(Self.lifetime)
        let header = JSONWriter.object {
            $0.member("alg", "RS256")
            $0.member("typ", "JWT")
            $0.member("kid", account.keyID)
        }
        let claims = JSONWriter.object {
            $0.member("iss", account.email)
            $0.member("scope", GoogleCredential.scope)
            $0.member("aud", account.tokenURL.description)
            $0.member("iat", now)
            $0.member("exp", overflow ? now : end)
        }
        let signed = Base64.url.encode(header.bytes) + "." + Base64.url.encode(claims.bytes)
        return Secret(signed + "." + Base64.url.encode(try account.key.signature(of: signed)))
    }
}
