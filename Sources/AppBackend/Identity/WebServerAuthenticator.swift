// SPDX-License-Identifier: Apache-2.0
import HTTP

/// Whom the web server has authenticated by itself, and named in its parameter `APP_BACKEND_USER`.
///
/// It takes the web server's word, so only the web server may reach the responder's socket. The user must be one of the
/// store's, as with any other method.
struct WebServerAuthenticator: Authenticator {
    let users: any PasswordAuthenticator

    /// A browser adds certificates, and the cookies that an `auth_request` goes by, to requests of any page.
    /// - Throws: `Problem` 403.
    func authenticate(_ request: Request) throws -> Authentication {
        guard let name = request.authenticatedUser else { return .notMine }
        guard let user = try UserName(new: name).flatMap({ try users.account(of: $0) })?.principal else {
            return .refused
        }
        guard RequestOrigin.isSafe(request) || RequestOrigin(request) != .other else {
            throw RequestOrigin.crossSiteRequest
        }
        return .principal(user.authenticated(by: .webServer))
    }
}
