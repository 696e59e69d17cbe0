// SPDX-License-Identifier: Apache-2.0
import HTTP

/// `GET /api/session`
extension SessionController {
    /// Whose session the cookie stands for; 401 when it stands for none. Credentials are no session and do not count.
    func read(_ request: Request) throws -> Response {
        guard let found = try sessions.session(of: request) else { return challenge.response(to: request) }
        return Self.answer(found.session, of: found.user)
    }
}
