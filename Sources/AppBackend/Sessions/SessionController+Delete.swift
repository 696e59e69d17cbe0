// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes

/// `DELETE /api/session?everywhere=true`
extension SessionController {
    /// Ends the cookie's session, or all of its user's, and takes the cookie back. Where there is no session any more it
    /// says the same: the caller wants it not to be, and it is not. A session of another user than the caller means stays.
    func delete(_ request: Request) throws -> Response {
        try Self.refuseOtherSites(request)
        let isEverywhere = try Query(request.query).flag("everywhere")
        if let found = try sessions.session(of: request), !ExpectedUser.isMet(by: found.user, request) {
            return challenge.response(to: request)
        }
        // A session that does not count any more must not end those that do.
        if isEverywhere, let found = try sessions.session(of: request) {
            _ = try sessions.store.removeSessions(owner: found.session.owner)
        }
        try sessions.end(of: request)
        return Response(fields: [.setCookie: SessionCookie.clear, .cacheControl: "no-store"])
    }
}
