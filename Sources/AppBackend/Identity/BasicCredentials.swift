// SPDX-License-Identifier: Apache-2.0
import HTTP
package import HTTPTypes
import Text

/// A name and a password as they came in `Authorization: Basic` (RFC 7617), or in the body of a log-in. Prints as `***`.
package struct BasicCredentials: Redacted, Sendable {
    /// Longer credentials are refused before they are decoded.
    static let maximumEncodedLength = 2048

    package let name: String
    package let password: String

    /// - Returns: nil, when one holds a control character: RFC 7617 section 2 forbids them, and `crypt(3)` would take a NUL
    ///   for the password's end. Nil too for a password longer than any that is stored: what is never hashed must not be
    ///   counted as a guess either.
    package init?(name: String, password: String) {
        guard !(name.utf8.contains(where: Self.isControl) || password.utf8.contains(where: Self.isControl)),
            password.utf8.count <= PasswordHash.maximumPasswordBytes
        else { return nil }
        self.name = name
        self.password = password
    }

    private static func isControl(_ byte: UInt8) -> Bool { byte < 0x20 || byte == 0x7F }

    /// Reads the one field that holds credentials.
    /// - Returns: nil for several fields, and as `init(authorization:)`.
    package init?(fields: HTTPFields) {
        guard let encoded = fields.authorization("basic") else { return nil }
        self.init(encoded: encoded)
    }

    /// Reads the value of the field.
    /// - Returns: nil, when it is another scheme, not Base64, not UTF-8, has no colon, or cannot be anybody's.
    package init?(authorization: String) {
        self.init(fields: [.authorization: authorization])
    }

    /// The name ends at the first colon; the rest is the password, colons and all.
    /// - Parameter encoded: what follows the scheme.
    init?(encoded: Substring.UTF8View) {
        guard encoded.count <= Self.maximumEncodedLength, let decoded = Base64.standard.decode(Substring(encoded)),
            let colon = decoded.firstIndex(of: UInt8(ascii: ":")), let name = String(validUTF8: decoded[..<colon]),
            let password = String(validUTF8: decoded[(colon + 1)...])
        else { return nil }
        self.init(name: name, password: password)
    }
}

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
