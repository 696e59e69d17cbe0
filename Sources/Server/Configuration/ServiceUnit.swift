// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The settings of the service's unit that a command needs to read as the service does: the files of its secrets, and the groups
/// of its user.
package struct ServiceUnit: Equatable, Sendable {
    /// The folder that systemd makes for the service (`StateDirectory=`), which belongs to the service's user.
    package static let stateFolder = "/var/lib/app-backend"
    package static let name = "app-backend.service"

    /// The files of `LoadCredential=`, by their keys.
    private(set) var credentials: [String: String] = [:]
    /// `SupplementaryGroups=`: names or numbers.
    private(set) var groups: [String] = []

    /// The installed unit; nil without systemd. (`systemctl show` prints no credentials.)
    static func read() -> ServiceUnit? {
        guard access("/run/systemd/system", F_OK) == 0,
            let output = popen("LC_ALL=C exec systemctl cat --no-pager \(name) 2>/dev/null", "r")
        else { return nil }
        let bytes = ConfigurationFile.read(from: fileno(output))
        guard pclose(output) == 0, let bytes else { return nil }
        return ServiceUnit(String(decoding: bytes, as: UTF8.self))
    }

    /// - Parameter text: as `systemctl cat` prints it: the unit, then its drop-ins. An empty value takes back those before it.
    init(_ text: String) {
        var section = ""
        for line in Self.lines(text) {
            if line.hasPrefix("[") { section = line }
            guard section == "[Service]", let equals = line.firstIndex(of: "=") else { continue }
            let value = Self.trimmed(line[line.index(after: equals)...])
            switch Self.trimmed(line[..<equals]) {
            case "LoadCredential" where value.isEmpty: credentials = [:]
            case "LoadCredential": load(value)
            case "SupplementaryGroups" where value.isEmpty: groups = []
            case "SupplementaryGroups": groups += value.split(separator: " ").map(String.init)
            default: continue
            }
        }
    }

    /// A path with a specifier of systemd's is unknown here, and one that is not absolute is a name in systemd's own store.
    private mutating func load(_ value: String) {
        guard let colon = value.firstIndex(of: ":") else { return }
        let path = value[value.index(after: colon)...]
        guard path.hasPrefix("/"), !path.contains("%") else { return }
        credentials[String(value[..<colon])] = String(path)
    }

    /// Without comments; a line that ends in a backslash goes on in the next one.
    private static func lines(_ text: String) -> [String] {
        var lines: [String] = []
        var begun = ""
        for line in text.split(whereSeparator: \.isNewline) {
            let line = trimmed(line)
            guard !line.hasPrefix("#"), !line.hasPrefix(";") else { continue }
            if line.hasSuffix("\\") {
                begun += "\(line.dropLast()) "
            } else {
                lines.append(begun + line)
                begun = ""
            }
        }
        return lines
    }

    private static func trimmed(_ text: Substring) -> String {
        String(text.trimming { $0 == " " || $0 == "\t" })
    }
}
