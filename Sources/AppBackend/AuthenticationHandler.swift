// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes

/// Surrounds the routes: nothing behind it is reached by anybody who is not a user, and a new route cannot forget it.
package struct AuthenticationHandler: Responder {
    private let authenticator: any Authenticator
    private let challenge: String
    private let inner: any Responder

    /// - Parameter realm: shown to the person who is asked for a password; printable ASCII without quotation marks.
    package init(authenticator: any Authenticator, realm: String, inner: any Responder) {
        self.authenticator = authenticator
        self.inner = inner
        // RFC 7617 section 2.1: the charset tells clients to send UTF-8.
        challenge = "Basic realm=\"\(realm)\", charset=\"UTF-8\""
    }

    /// - Throws: what the authenticator and the inner responder throw. Wrong credentials are not thrown but answered.
    package func respond(to request: Request) throws -> Response {
        // The field is no list (RFC 9110 section 11.6.2): of two nobody could say which one counts.
        let values = request.fields[values: .authorization]
        guard values.count == 1, let credentials = BasicCredentials(authorization: values[0]),
            let user = try authenticator.authenticate(credentials, address: request.remoteAddress ?? "")
        else { return unauthorized }
        var request = request
        request.user = user.description
        return try inner.respond(to: request)
    }

    private var unauthorized: Response {
        var response = Problem(.unauthorized, "User name or password is missing or wrong.").response
        response.fields[.wwwAuthenticate] = challenge
        return response
    }
}
