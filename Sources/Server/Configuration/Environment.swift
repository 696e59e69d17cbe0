// SPDX-License-Identifier: Apache-2.0
import Glibc
import Text

/// Environment variables: those of this process, or given ones.
package struct Environment: Sendable {
    package static let process = Environment(variables: nil)

    /// nil: those of this process.
    private let variables: [String: String]?

    init(_ variables: [String: String]) {
        self.init(variables: variables)
    }

    private init(variables: [String: String]?) {
        self.variables = variables
    }

    package subscript(name: String) -> String? {
        if let variables { return variables[name] }
        return getenv(name).map { String(cString: $0) }
    }

    /// The value that a variable gives a setting: `APP_BACKEND_HUB_CA_FILE` is that of `hub.caFile`.
    subscript(setting key: String) -> String? {
        self["APP_BACKEND" + Self.words(key)]
    }

    /// The key's words in upper case, an underscore before each. A word ends at a character that is neither a letter nor a digit,
    /// and before a capital letter that follows a small one.
    private static func words(_ key: String) -> String {
        let (capitals, small) = (UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"))
        var (name, before) = ("_", UInt8(ascii: "."))
        for byte in key.utf8 {
            if capitals.contains(byte), small.contains(before) { name += "_" }
            name += ASCII.isAlphanumeric(byte) ? String(UnicodeScalar(byte)).uppercased() : "_"
            before = byte
        }
        return name
    }
}
