// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes

/// Surrounds the routes: only a user's request passes, and a new route cannot forget it.
///
/// A request with credentials is judged by them alone; a request without, by the session of its cookie.
struct AuthenticationHandler: Sendable {
    let authenticator: any Authenticator
    let sessions: Sessions
    let challenge: Challenge
    let inner: any UserResponder

    /// - Parameter route: the request's; nil: there is no such path, which only users are told.
    /// - Throws: what the authenticator, the store and the inner responder throw, and `Problem` 403. Wrong credentials
    ///   and sessions that have ended are not thrown but answered.
    func respond(to request: Request, route: RouteMatch<UserAction>?) throws -> Response {
        guard let user = try user(of: request) else { return challenge.response(to: request) }
        return try inner.respond(to: UserRequest(http: request, user: user, route: route))
    }

    private func user(of request: Request) throws -> Principal? {
        guard request.fields.contains(.authorization) else { return try userOfSession(request) }
        // A browser keeps a password that was typed into its own box, and adds it to requests of any page.
        guard Self.isSafe(request) || RequestOrigin(request) != .other else { throw RequestOrigin.crossSiteRequest }
        guard let credentials = BasicCredentials(fields: request.fields) else { return nil }
        return try authenticator.authenticate(credentials, of: request)
    }

    /// A browser adds its cookies to requests of any page. `SameSite=Strict` keeps it from doing so for
    /// other sites; not for neighbours under the same domain, and not where a browser does not know it. So whatever
    /// could change something proves that this site's own page made it.
    private func userOfSession(_ request: Request) throws -> Principal? {
        guard let session = try sessions.session(of: request) else { return nil }
        guard Self.isSafe(request) || RequestOrigin(request) == .own else { throw RequestOrigin.crossSiteRequest }
        return session.user
    }

    private static func isSafe(_ request: Request) -> Bool { request.method == .get || request.method == .head }
}
