// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Who may read and change a file that holds secrets: its owner, and its group may read.
enum SecretFile {
    /// What other users may not do.
    static let forbiddenMode: mode_t = 0o027

    /// The permissions of a file that is open to others, in octal digits; nil, when it is not, or is no file.
    static func opennessOfFile(at path: String) -> String? { mode(of: path, with: forbiddenMode) }

    /// - Returns: nil, when the file has none of these permissions, or is no file.
    fileprivate static func mode(of path: String, with permissions: mode_t) -> String? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_mode & permissions != 0
        else { return nil }
        return String(status.st_mode & 0o777, radix: 8)
    }
}

/// Who may change a file that decides who is who, such as the configuration or the keys of an issuer: its owner alone. Who may
/// write it can be any user.
enum DecidingFile {
    /// What its group and others may not do.
    private static let forbiddenMode: mode_t = 0o022

    /// Nil, when only its owner may change it, and when it is no file.
    /// - Parameter key: that names the file; nil: it is the configuration.
    static func fault(of path: String, _ key: String? = nil) -> ConfigurationFault? {
        SecretFile.mode(of: path, with: forbiddenMode).map { mode in
            ConfigurationFault(
                key: key ?? path,
                reason: "\(key == nil ? "" : "\(path): ")others than its owner may change who is who "
                    + "(mode \(mode)); chmod go-w \(path)")
        }
    }
}

extension SiteConfiguration {
    /// Files that hold secrets of the configuration and are open to others. The service goes on with them and says so;
    /// `check` and `doctor` take them for faults.
    /// - Parameters:
    ///   - file: the configuration file, with its keys and values.
    ///   - credentials: the secrets that are files of their own, by their keys.
    func exposures(file: (path: String, values: [String: String])?, credentials: [String: String])
        -> [ConfigurationFault]
    {
        var found: [ConfigurationFault] = []
        if let file, let mode = SecretFile.opennessOfFile(at: file.path) {
            let keys = file.values.filter { isSecret($0.key, $0.value) }.keys.sorted()
            if !keys.isEmpty {
                let reason =
                    "is in a file that others may read or change (mode \(mode)); put it into a file of its own "
                    + "(LoadCredential=), or chmod 600 \(file.path)"
                found += keys.map { ConfigurationFault(key: $0, reason: reason) }
            }
        }
        for (key, path) in credentials.sorted(by: { $0.key < $1.key }) {
            guard let mode = SecretFile.opennessOfFile(at: path) else { continue }
            let reason = "others may read or change \(path) (mode \(mode)); chmod 600"
            found.append(ConfigurationFault(key: key, reason: reason))
        }
        return found
    }

    /// Whether the value must stay unread. An address is a secret when it has a password.
    private func isSecret(_ key: String, _ value: String) -> Bool {
        guard let traits = table[key]?.traits else { return false }
        return traits.contains(.address) ? Self.hasPassword(value) : traits.contains(.secret) && !value.isEmpty
    }

    private static func hasPassword(_ url: String) -> Bool {
        let rest = url.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: true).dropFirst().first
        let authority = rest.map { String(Substring($0)) } ?? ""
        let user = authority.split(separator: "@", omittingEmptySubsequences: false).dropLast().joined(separator: "@")
        return user.contains(":") || url.contains("password=")
    }
}
