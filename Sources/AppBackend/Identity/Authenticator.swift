// SPDX-License-Identifier: Apache-2.0
package import HTTP
package import JWT

/// One way to find out whose a request is.
///
/// The configuration lists them in an order. The first one that finds something of its kind in the request decides, and
/// the others are not asked: a wrong password is not made good by a cookie.
package protocol Authenticator: Sendable {
    /// - Throws: `Problem` 403, when the request may not be made with what it brings; 429 or 503, when what it brings was
    ///   not even looked at; `StoreError`; `Postponed`, where the request can be put off: then it is authenticated once more.
    func authenticate(_ request: Request) throws -> Authentication
}

/// What an authenticator says of a request.
package enum Authentication: Sendable {
    /// The request brings nothing of this kind.
    case notMine
    /// It does, and what it brings is not, or no longer, a user's.
    case refused
    /// It brings a bearer token that is not accepted, and why.
    case invalidToken(TokenError)
    case principal(Principal)
}

/// The authenticators, by their names in the configuration.
package enum AuthenticationMethod: String, CaseIterable, Sendable {
    /// A name and a password: `Authorization: Basic`, or in the body of a log-in.
    case password
    /// The same, where a password that equals the name is right: the tutorial's test.
    case test
    /// A token in place of the password, which may do less than its user.
    case token
    /// A token (JWT) of an issuer that is trusted.
    case bearer
    /// The web server, which has authenticated the user by itself: `auth_request`, a client's certificate.
    case webServer = "web-server"
    /// The cookie of a log-in.
    case session
}
