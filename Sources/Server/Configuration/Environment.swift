// SPDX-License-Identifier: Apache-2.0
import Glibc
import Text

/// Environment variables: those of this process, or given ones; and the secrets that come with them.
package struct Environment: Sendable {
    package static let process = Environment(variables: nil)

    /// nil: those of this process.
    private let variables: [String: String]?
    /// nil: the variables say where secrets are.
    package let unit: ServiceUnit?

    init(_ variables: [String: String], unit: ServiceUnit? = nil) {
        self.init(variables: variables, unit: unit)
    }

    private init(variables: [String: String]?, unit: ServiceUnit? = nil) {
        (self.variables, self.unit) = (variables, unit)
    }

    /// Of a command about the configuration file. What systemd loads for the service, root's commands read from where systemd
    /// reads it, unless `$CREDENTIALS_DIRECTORY` says otherwise.
    /// - Parameter file: nil: where the defaults are.
    package static func ofCommand(file: String?) -> Environment {
        let path = file ?? ConfigurationFile.defaultPath()
        guard geteuid() == 0, process["CREDENTIALS_DIRECTORY"] == nil, path == ConfigurationFile.systemPath else {
            return process
        }
        return Environment(variables: nil, unit: ServiceUnit.read())
    }

    /// Where the secret is a file of its own, if anywhere.
    func credentialPath(_ key: String) -> String? {
        if let folder = self["CREDENTIALS_DIRECTORY"] { return "\(folder)/\(key)" }
        return unit?.credentials[key]
    }

    /// Whether a secret that the service has is given to this process as well.
    package func hasCredential(_ key: String) -> Bool { credentialPath(key) != nil }

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
