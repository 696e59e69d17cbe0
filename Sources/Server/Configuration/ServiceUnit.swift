// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The settings of the service's unit that a command needs to read as the service does: the files of its secrets, the groups
/// of its user, and the folders that it does not see or may not write.
package struct ServiceUnit: Equatable, Sendable {
    /// The folder that systemd makes for the service (`StateDirectory=`), which belongs to the service's user.
    package static let stateFolder = "/var/lib/app-backend"
    package static let name = "app-backend.service"

    /// The files of `LoadCredential=`, by their keys.
    private(set) var credentials: [String: String] = [:]
    /// `SupplementaryGroups=`: names or numbers.
    private(set) var groups: [String] = []
    /// `ProtectHome=` and `PrivateTmp=`, by their names: whether the service sees their folders empty.
    private var hides: [String: Bool] = [:]
    /// `BindPaths=` and `BindReadOnlyPaths=`: paths that it sees nevertheless. An empty value of either takes back all of them.
    private var mounts: [Mount] = []
    /// `ProtectSystem=strict`: whether it may write only below `BindPaths=` and the paths of these settings.
    private var isReadOnly = false
    private var writable: [String: [String]] = [:]

    private struct Mount: Equatable {
        let path: String
        let isWritable: Bool
    }

    /// The folders in which systemd makes those that these settings name, writable for the service.
    private static let madeFolders = [
        "StateDirectory": "/var/lib/", "CacheDirectory": "/var/cache/", "LogsDirectory": "/var/log/",
        "RuntimeDirectory": "/run/",
    ]

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
            let (key, value) = (Self.trimmed(line[..<equals]), Self.trimmed(line[line.index(after: equals)...]))
            let words = value.split(separator: " ")
            switch key {
            case "LoadCredential" where value.isEmpty: credentials = [:]
            case "LoadCredential": load(value)
            case "SupplementaryGroups" where value.isEmpty: groups = []
            case "SupplementaryGroups": groups += words.map(String.init)
            case "ProtectHome", "PrivateTmp": hides[key] = Self.hiding.contains(value)
            case "BindPaths" where value.isEmpty, "BindReadOnlyPaths" where value.isEmpty: mounts = []
            case "BindPaths", "BindReadOnlyPaths":
                mounts += words.map { Mount(path: Self.bound($0), isWritable: key == "BindPaths") }
            case "ProtectSystem": isReadOnly = value == "strict"
            case "ReadWritePaths" where value.isEmpty: writable[key] = nil
            case "ReadWritePaths": writable[key, default: []] += words.map { String($0.drop { "-+".contains($0) }) }
            default: addMade(key, words)
            }
        }
    }

    /// A folder has the form `name`, `name:link` or `name:link:flags`.
    private mutating func addMade(_ key: String, _ words: [Substring]) {
        guard let parent = Self.madeFolders[key] else { return }
        let made = words.filter { !$0.hasSuffix(":ro") }.map { parent + $0.prefix { $0 != ":" } }
        writable[key] = words.isEmpty ? nil : (writable[key] ?? []) + made
    }

    /// The path at which the service sees a bind mount.
    private static func bound(_ mount: Substring) -> String {
        let path = mount.split(separator: ":").last { $0.hasPrefix("/") }
        return String(path ?? mount.drop { $0 == "-" })
    }

    /// Values that hide the folders. (`read-only` does not.)
    private static let hiding: Set = ["yes", "true", "on", "1", "tmpfs", "disconnected"]
    private static let folders = ["ProtectHome": ["/home", "/root", "/run/user"], "PrivateTmp": ["/tmp", "/var/tmp"]]

    /// The setting of the unit that hides the file from the service; nil: none does.
    func hiding(_ path: String) -> String? {
        guard !Self.isBelow(path, mounts.map(\.path)) else { return nil }
        return Self.folders.keys.sorted().first { hides[$0] == true && Self.isBelow(path, Self.folders[$0] ?? []) }
    }

    /// Whether the unit lets the service write there.
    func mayWrite(_ path: String) -> Bool {
        !isReadOnly || Self.isBelow(path, mounts.filter(\.isWritable).map(\.path) + writable.values.flatMap(\.self))
    }

    /// Whether the path is one of the folders or below one, as far as is known. With a specifier (`%S`) a folder may be any.
    private static func isBelow(_ path: String, _ folders: [String]) -> Bool {
        folders.contains { folder in
            if folder.contains("%") { return true }
            let beginning = folder.hasSuffix("/") ? folder : folder + "/"
            return path.hasPrefix(beginning) || path + "/" == beginning
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
