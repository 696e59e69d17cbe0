// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes

/// `Authorization: Basic`: the user's name and password with each request.
struct BasicAuthenticator: Authenticator {
    let passwords: any PasswordAuthenticator
    let method: AuthenticationMethod

    func authenticate(_ request: Request) throws -> Authentication {
        guard let encoded = request.fields.authorization("basic") else { return .notMine }
        guard let credentials = BasicCredentials(encoded: encoded) else { return .refused }
        guard !credentials.isAppToken else { return .notMine }
        guard let user = try passwords.authenticate(credentials, of: request) else { return .refused }
        return .principal(user.authenticated(by: method))
    }
}
