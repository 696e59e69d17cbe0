// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import JWT

/// The answer to a request without valid credentials: 401, and the scheme to use.
package struct Challenge: Sendable {
    /// The message when the credentials are missing or wrong.
    private static let wrongCredentials = Problem(
        .wrongCredentials, "User name or password is missing or wrong.")
    /// The message when the request has an app token.
    private static let wrongAppToken = Problem(.wrongAppToken, "This app token is wrong, has ended or was revoked.")
    /// The message when the request has a cookie and no credentials.
    private static let sessionEnded = Problem(.sessionEnded, "The session has ended: log in again.")

    /// Nil where no method takes names and passwords.
    private let basic: String?
    private let session: String
    private let token: String
    /// Nil where no issuer is trusted.
    private let bearer: String?

    /// - Parameters:
    ///   - realm: shown to the person who is asked for a password; printable ASCII without quotation marks.
    ///   - methods: by which requests are authenticated.
    init(realm: String, methods: [AuthenticationMethod]) {
        token = "Bearer realm=\"\(realm)\""
        bearer = methods.contains(.bearer) ? token : nil
        let takesBasic = bearer == nil || !Set(methods).isDisjoint(with: [.password, .test, .token])
        // RFC 7617 section 2.1: the charset tells clients to send UTF-8.
        basic = takesBasic ? "Basic realm=\"\(realm)\", charset=\"UTF-8\"" : nil
        session = "Session realm=\"\(realm)\""
    }

    /// The answer to a request with a token that is not accepted (RFC 6750 section 3). No browser opens a box for it.
    func response(to error: TokenError) -> Response {
        refusal(
            Problem(error == .expired ? .tokenExpired : .invalidToken, "\(error)"),
            ["\(bearer ?? session), error=\"invalid_token\", error_description=\"\(error)\""])
    }

    /// The answer to a request with an app token that is wrong: in the scheme in which it came.
    func response(toAppTokenOf request: Request) -> Response {
        let isBearer = request.fields.authorization("bearer") != nil
        return refusal(
            Self.wrongAppToken, isBearer ? ["\(token), error=\"invalid_token\""] : challenges(to: request))
    }

    private func refusal(_ problem: Problem, _ challenges: [String]) -> Response {
        var response = problem.response
        // A client chooses out of several fields (RFC 9110 section 11.6.1).
        response.fields[values: .wwwAuthenticate] = challenges
        return response
    }

    /// On `Basic` a browser opens a box of its own over the page that asked, and remembers for good what is typed there.
    /// So a page's fetch gets a scheme that no browser knows (401 needs one: RFC 9110 section 15.5.2), and so does a client
    /// that sends tokens.
    /// - Parameter isLogIn: whether the request is one, and brought its credentials in whatever form; its cookie is then
    ///   not what was wrong.
    func response(to request: Request, isLogIn: Bool = false) -> Response {
        // A token of another user than the one that the client names.
        if !isLogIn, let bearer, request.fields.authorization("bearer") != nil {
            return refusal(Self.wrongCredentials, ["\(bearer), error=\"invalid_token\""])
        }
        let isOfSession = !isLogIn && request.fields.contains(.cookie) && !request.fields.contains(.authorization)
        return refusal(isOfSession ? Self.sessionEnded : Self.wrongCredentials, challenges(to: request))
    }

    private func challenges(to request: Request) -> [String] {
        let isOfPage = request.fields[.mode].map { $0 != "navigate" } ?? false
        return isOfPage ? [session] : [basic, bearer].compactMap(\.self)
    }
}
