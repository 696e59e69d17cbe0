// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import JSON
import Store

/// Log-ins that last, for pages: a cookie in place of the password. Each route has a file of its own.
///
/// It comes before authentication, because its callers are not authenticated yet.
struct SessionController: Sendable {
    let sessions: Sessions
    let authenticator: any PasswordAuthenticator
    /// Whether a name and a password begin a session.
    let takesPasswords: Bool
    let challenge: Challenge
    let policy: TagPolicy
    let seen: SeenUsers

    var routes: [Route<RequestAction>] {
        [
            Route(.post, Path.session) { request, _ in try create(request) },
            Route(.get, Path.session) { request, _ in try read(request) },
            Route(.delete, Path.session) { request, _ in try delete(request) },
        ]
    }

    /// - Throws: `Problem` 403, when a page of another site makes the request.
    static func refuseOtherSites(_ request: Request) throws(Problem) {
        guard RequestOrigin(request) != .other else {
            throw Problem(.crossSite, "Only this site's own pages may do that.")
        }
    }

    /// `{"User":"alice","ExpiresAt":"2026-11-28T12:00:00Z"}`, and `"Administer":true` only for who may.
    func answer(_ session: Session, of user: Principal) -> Response {
        seen.note(user)
        let json = JSONWriter.object { json in
            json.member("User", user.name)
            json.member("ExpiresAt", session.expiresAt.text)
            if policy.rights(of: user).mayAdminister { json.member("Administer", true) }
        }
        return .unstoredJSON(json.bytes)
    }
}
