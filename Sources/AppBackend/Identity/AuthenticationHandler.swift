// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
package import HTTP
import HTTPTypes
package import JWT
import Text

/// Surrounds the routes: only a user's request passes, and a new route cannot forget it.
struct AuthenticationHandler: Sendable {
    /// In the order of the configuration: the first that finds something of its kind decides.
    let authenticators: [any Authenticator]
    let challenge: Challenge
    let seen: SeenUsers
    let inner: any UserResponder

    /// - Parameter route: the request's; nil: there is no such path, which only users are told.
    /// - Throws: what the authenticators, the store and the inner responder throw, and `Problem` 403. Wrong credentials
    ///   and sessions that have ended are not thrown but answered.
    func respond(to request: Request, route: RouteMatch<UserAction>?) throws -> Response {
        let request = request.withAPIKey(at: route?.pattern)
        switch try authenticate(request) {
        case .principal(let user):
            guard ExpectedUser.isMet(by: user, request) else { return challenge.response(to: request) }
            seen.note(user)
            return try inner.respond(to: UserRequest(http: request, user: user, route: route))
        case .invalidToken(let error): return challenge.response(to: error)
        case .wrongAppToken: return challenge.response(toAppTokenOf: request)
        case .refused, .notMine: return challenge.response(to: request)
        }
    }

    private func authenticate(_ request: Request) throws -> Authentication {
        // A browser keeps a password that was typed into its own box, and adds it to requests of any page.
        guard
            !request.fields.contains(.authorization) || RequestOrigin.isSafe(request)
                || RequestOrigin(request) != .other
        else { throw RequestOrigin.crossSiteRequest }
        for authenticator in authenticators {
            let authentication = try authenticator.authenticate(request)
            if case .notMine = authentication { continue }
            return authentication
        }
        return .notMine
    }
}

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
    /// It brings an app token that is wrong, has ended or was revoked.
    case wrongAppToken
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

/// As whom a client means to act, where it says so in `App-Backend-User`: the name, percent-encoded.
///
/// All windows of a browser have one cookie. When another user logs in in one of them, the others go on showing the first
/// one for a while. What these ask for must not be answered for the other, and above all not be done in the other's name.
enum ExpectedUser {
    /// Made once: each request is asked for it.
    private static let field = HTTPField.Name("App-Backend-User")

    /// Whether the request names no user, or one that can be read.
    static func isReadable(_ request: Request) -> Bool {
        field.flatMap { request.fields[$0] }.map { PercentEncoding.decode($0.utf8) != nil } ?? true
    }

    /// Whether the request names no user, or this one.
    static func isMet(by user: Principal, _ request: Request) -> Bool {
        guard let text = field.flatMap({ request.fields[$0] }) else { return true }
        return PercentEncoding.decode(text.utf8)?.hasSameBytes(as: user.name) ?? false
    }
}

extension HTTPFields {
    /// What follows the scheme in `Authorization`. It is not a list (RFC 9110 section 11.6.2), so two fields are ambiguous
    /// and none of them counts.
    /// - Parameter scheme: in lower case; compared without regard to case.
    /// - Returns: nil for another scheme as well; empty where nothing follows.
    func authorization(_ scheme: String) -> Substring.UTF8View? {
        guard let value = only(.authorization)?.utf8 else { return nil }
        let end = value.firstIndex(of: UInt8(ascii: " ")) ?? value.endIndex
        guard value[..<end].elementsEqual(scheme.utf8, by: { ASCII.lowercased($0) == $1 }) else { return nil }
        return value[end...].drop { $0 == UInt8(ascii: " ") }
    }
}
