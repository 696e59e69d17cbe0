// SPDX-License-Identifier: Apache-2.0
import HTTP

/// `GET /api/session`
extension SessionController {
    /// The user of the cookie's session; 401 without a valid one. Credentials are not a session and do not count.
    func read(_ request: Request) throws -> Response {
        guard let found = try sessions.session(of: request) else { return challenge.response(to: request) }
        return answer(found.session, of: found.user)
    }
}
