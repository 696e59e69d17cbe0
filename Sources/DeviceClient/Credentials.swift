// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A user's name and password. They leave only as a header field, and print as `***`.
///
/// Keep the password in the keychain. HTTP Basic sends it with every call, so an endpoint is `https`.
public struct Credentials: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Why name and password cannot be credentials.
    public enum Malformed: Error, Equatable, Sendable {
        /// The name is empty, and names no user.
        case emptyUser
        /// The name has a colon, where HTTP Basic ends it (RFC 7617 section 2).
        case colonInUser
        /// A control character, which RFC 7617 section 2 forbids in both.
        case controlCharacter
    }

    /// The name, which ends at no colon.
    public let user: String
    private let password: String

    /// - Throws: `Malformed`, at once and before anything is sent.
    public init(user: String, password: String) throws(Malformed) {
        guard !user.isEmpty else { throw .emptyUser }
        guard !user.utf8.contains(UInt8(ascii: ":")) else { throw .colonInUser }
        guard !(user + password).unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { throw .controlCharacter }
        self.user = user
        self.password = password
    }

    /// The value of the `Authorization` header field. It holds the password, so it must not be logged.
    package var authorization: String {
        "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    }

    /// Always `***`.
    public var description: String { "***" }
    /// Always `***`.
    public var debugDescription: String { "***" }
    /// Empty, so that `dump` shows nothing either.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
