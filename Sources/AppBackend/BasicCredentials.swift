// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import HTTP

/// A name and a password as they came in `Authorization: Basic` (RFC 7617). Prints as `***`.
package struct BasicCredentials: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// Longer credentials are refused before they are decoded.
    static let maximumEncodedLength = 2048

    package let name: String
    package let password: String

    package init(name: String, password: String) {
        self.name = name
        self.password = password
    }

    /// Reads the value of the field. The name ends at the first colon; the rest is the password, colons and all.
    /// - Returns: nil, when it is another scheme, not Base64, not UTF-8, has no colon, or holds a control character:
    ///   RFC 7617 section 2 forbids them, and `crypt(3)` would take a NUL for the password's end.
    package init?(authorization: String) {
        let text = authorization.utf8
        guard text.count <= Self.maximumEncodedLength, let blank = text.firstIndex(of: UInt8(ascii: " ")),
            text[..<blank].elementsEqual("basic".utf8, by: { ASCII.lowercased($0) == $1 })
        else { return nil }
        let encoded = text[blank...].drop { $0 == UInt8(ascii: " ") }
        guard let decoded = Data(base64Encoded: Data(encoded)),
            let pair = String(validating: decoded, as: UTF8.self)?.utf8,
            !pair.contains(where: { $0 < 0x20 || $0 == 0x7F }), let colon = pair.firstIndex(of: UInt8(ascii: ":"))
        else { return nil }
        name = String(Substring(pair[..<colon]))
        password = String(Substring(pair[pair.index(after: colon)...]))
        // No stored password is longer, and what is never hashed must not be counted as a guess either.
        guard password.utf8.count <= PasswordHash.maximumPasswordBytes else { return nil }
    }

    package var description: String { "***" }
    package var debugDescription: String { "***" }
}

extension BasicCredentials: CustomReflectable {
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
