// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes

/// The answer to a request without valid credentials: 401, and the scheme to use.
package struct Challenge: Sendable {
    /// The message when the credentials are missing or wrong.
    package static let wrongCredentials = "User name or password is missing or wrong."
    /// The message when the request has a cookie and no credentials.
    package static let endedSession = "The session has ended: log in again."

    private let basic: String
    private let session: String

    /// - Parameter realm: shown to the person who is asked for a password; printable ASCII without quotation marks.
    init(realm: String) {
        // RFC 7617 section 2.1: the charset tells clients to send UTF-8.
        basic = "Basic realm=\"\(realm)\", charset=\"UTF-8\""
        session = "Session realm=\"\(realm)\""
    }

    /// On `Basic` a browser opens a box of its own over the page that asked, and remembers for good what is typed there.
    /// So a page's fetch gets a scheme that no browser knows (401 needs one: RFC 9110 section 15.5.2).
    /// - Parameter isLogIn: whether the request is one, and brought its credentials in whatever form; its cookie is then
    ///   not what was wrong.
    func response(to request: Request, isLogIn: Bool = false) -> Response {
        let isOfSession = !isLogIn && request.fields.contains(.cookie) && !request.fields.contains(.authorization)
        let detail = isOfSession ? Self.endedSession : Self.wrongCredentials
        var response = Problem(.unauthorized, detail).response
        let isOfPage = request.fields[.mode].map { $0 != "navigate" } ?? false
        response.fields[.wwwAuthenticate] = isOfPage ? session : basic
        return response
    }
}
