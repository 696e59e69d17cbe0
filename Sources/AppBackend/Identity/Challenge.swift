// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes

/// The answer to whoever must show who he is: 401, and how he can.
package struct Challenge: Sendable {
    /// What a request is told whose credentials are missing or wrong.
    package static let wrongCredentials = "User name or password is missing or wrong."
    /// What a request is told that came with a cookie and no credentials.
    package static let endedSession = "The session has ended: log in again."

    private let basic: String
    private let session: String

    /// - Parameter realm: shown to the person who is asked for a password; printable ASCII without quotation marks.
    init(realm: String) {
        // RFC 7617 section 2.1: the charset tells clients to send UTF-8.
        basic = "Basic realm=\"\(realm)\", charset=\"UTF-8\""
        session = "Session realm=\"\(realm)\""
    }

    /// A browser that is told `Basic` opens a box of its own over the page that asked, and remembers for good what is
    /// typed there. So a page's fetch is told a scheme that no browser knows (401 needs one: RFC 9110 section 15.5.2).
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
