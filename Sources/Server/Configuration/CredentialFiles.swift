// SPDX-License-Identifier: Apache-2.0
import Glibc
import System

/// The secrets that are files of their own, as they were read.
struct CredentialFiles {
    private(set) var values: [String: GivenValue] = [:]
    /// Each fault is of its own key: the others still count.
    private(set) var faults: [ConfigurationFault] = []
    /// Where those that are there were read, by their keys.
    private(set) var paths: [String: String] = [:]

    /// Reads them as this process: systemd, which hands them to the service, is root's.
    init(_ environment: Environment, _ table: SettingTable) {
        for row in table.rows where row.traits.contains(.secret) {
            let key = row.key
            guard let path = environment.credentialPath(key) else { continue }
            guard let bytes = ConfigurationFile.read(path) else {
                // A secret that cannot be read must not silently be no secret; and systemd starts no service without one that
                // the unit names.
                if errno != ENOENT || environment["CREDENTIALS_DIRECTORY"] == nil {
                    fault(key, "\(path): \(systemErrorText())")
                }
                continue
            }
            guard let text = String(validating: bytes, as: UTF8.self) else {
                fault(key, "\(path): is not UTF-8")
                continue
            }
            // An editor ends a file with a line break, a secret does not.
            let lines = text.split(whereSeparator: \.isNewline).map(String.init)
            guard let first = lines.first else {
                fault(key, "\(path): is empty")
                continue
            }
            paths[key] = path
            values[key] =
                if case .list = row.form { .list(lines) } else {
                    .text(row.traits.contains(.document) ? text : first)
                }
        }
    }

    private mutating func fault(_ key: String, _ reason: String) {
        faults.append(ConfigurationFault(key: key, reason: reason))
    }
}
