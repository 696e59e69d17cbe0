// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes

/// The cookie of a log-in. A request with credentials is judged by them alone.
struct SessionAuthenticator: Authenticator {
    let sessions: Sessions

    /// A browser adds its cookies to requests of any page. `SameSite=Strict` keeps it from doing so for
    /// other sites; not for neighbours under the same domain, and not where a browser does not know it. So whatever
    /// could change something proves that this site's own page made it.
    /// - Throws: `Problem` 403.
    func authenticate(_ request: Request) throws -> Authentication {
        guard !request.fields.contains(.authorization), let token = SessionCookie.token(in: request.fields) else {
            return .notMine
        }
        guard let session = try sessions.session(of: token) else { return .refused }
        guard RequestOrigin.isSafe(request) || RequestOrigin(request) == .own else {
            throw RequestOrigin.crossSiteRequest
        }
        return .principal(session.user.authenticated(by: .session))
    }
}
