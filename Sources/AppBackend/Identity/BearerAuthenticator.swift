// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import JWT

/// `Authorization: Bearer` (RFC 6750) with a token of an issuer (JWT).
struct BearerAuthenticator: Authenticator {
    /// When to ask again where keys are being fetched and the request cannot be put off, in seconds.
    private static let retryAfter = 1

    let verifier: TokenVerifier
    let users: any PasswordAuthenticator

    /// No thread waits for keys: a request that cannot be put off, or not once more, is answered 503.
    /// - Throws: `NoSideEffects` with 503, when there are no keys of the issuer, or the token's key may be a new one;
    ///   `StoreError`; `Postponed`, where the request can be put off until the keys are there.
    func authenticate(_ request: Request) throws -> Authentication {
        guard let token = request.fields.authorization("bearer") else { return .notMine }
        let outcome: TokenVerifier.Outcome
        do throws(TokenError) {
            outcome = try verifier.verify(Substring(token))
        } catch {
            return .invalidToken(error)
        }
        switch outcome {
        case .verified(let user, let roles):
            guard let name = UserName(new: user) else { return .invalidToken(.noUser) }
            guard var principal = try users.account(of: name)?.principal else { return .invalidToken(.userMayNotLogIn) }
            principal.tokenRoles += roles
            return .principal(principal.authenticated(by: .bearer))
        case .pending(let fetch):
            if case .available = request.postponing { throw Postponed(fetch) }
            throw Self.unavailable(Self.noKeys, seconds: Self.retryAfter)
        case .unavailable(let seconds): throw Self.unavailable(Self.noKeys, seconds: seconds)
        case .keyUnknownYet(let seconds):
            throw Self.unavailable("The token's key is not known here yet.", seconds: seconds)
        }
    }

    private static let noKeys = "The keys of the token's issuer cannot be fetched."

    /// Not as the problem itself, which is logged: anybody can make up such tokens. Each failed fetch of keys is logged.
    private static func unavailable(_ detail: String, seconds: Int) -> NoSideEffects {
        NoSideEffects(response: Problem(.issuerUnavailable, detail, retryAfter: seconds).response)
    }
}
