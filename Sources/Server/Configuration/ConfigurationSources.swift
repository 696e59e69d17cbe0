// SPDX-License-Identifier: Apache-2.0
import Glibc
import System

/// The value of a setting as it was given, before it is checked.
enum GivenValue {
    case text(String)
    case list([String])

    var texts: [String] {
        switch self {
        case .text(let text): [text]
        case .list(let texts): texts
        }
    }

    /// The elements of a list in one.
    var joined: String { texts.joined() }
}

/// Where the values of keys come from: credentials win over the environment, that over the file.
struct ConfigurationSources {
    /// The configuration file; nil: there is none.
    let path: String?
    /// What it says of the keys that there are.
    let file: [String: GivenValue]
    private(set) var faults: [ConfigurationFault] = []
    private let environment: Environment
    private let credentials: [String: GivenValue]
    /// The files of the credentials that are there, by their keys.
    let credentialPaths: [String: String]

    /// - Throws: `ConfigurationFault`, when the file cannot be read or is not a JSON object.
    init(file: String?, _ environment: Environment) throws(ConfigurationFault) {
        path = file ?? ConfigurationFile.defaultPath(environment)
        var values: [String: GivenValue] = [:]
        if let path {
            let file = try ConfigurationFile(path: path)
            values = file.values
            faults = file.faults + file.emptyObjects.compactMap(Self.emptyObjectFault)
        }
        let known = SiteConfiguration.knownKeys
        faults += values.keys.filter { !known.contains(SiteConfiguration.general($0)) }.sorted().map(Self.unknownKey)
        self.file = values.filter { known.contains(SiteConfiguration.general($0.key)) }
        self.environment = environment
        credentials = Self.credentials(environment, &faults)
        let found = credentials.keys.compactMap { key in Self.credentialPath(key, environment).map { (key, $0) } }
        credentialPaths = Dictionary(found) { first, _ in first }
    }

    /// The value that counts, and where it is from; nil: the key is set nowhere.
    func setting(_ key: String) -> (source: ConfigurationSetting.Source, value: GivenValue)? {
        if let value = credentials[key] { return (.credential, value) }
        if let text = environment[setting: key] { return (.environment, .text(text)) }
        return file[key].map { (.file, $0) }
    }

    /// Where systemd puts the secret, if anywhere.
    private static func credentialPath(_ key: String, _ environment: Environment) -> String? {
        environment["CREDENTIALS_DIRECTORY"].map { "\($0)/\(key)" }
    }

    /// An empty group, `"limits": {}`, is the same as no group; a key's own value is no object.
    private static func emptyObjectFault(_ key: String) -> ConfigurationFault? {
        let known = SiteConfiguration.knownKeys
        if known.contains(key) { return ConfigurationFault(key: key, reason: "must be a value, not an object") }
        guard !known.contains(where: { $0.hasPrefix(key + ".") }) else { return nil }
        return unknownKey(key)
    }

    private static func unknownKey(_ key: String) -> ConfigurationFault {
        let near = SimilarName.nearest(to: SiteConfiguration.general(key), of: SiteConfiguration.knownKeys)
        let suggestion = near.map { "; did you mean \($0)?" } ?? ""
        return ConfigurationFault(key: key, reason: "there is no such key" + suggestion)
    }

    /// Those that are there. Each fault is of its own key: the others still count.
    private static func credentials(
        _ environment: Environment, _ faults: inout [ConfigurationFault]
    ) -> [String: GivenValue] {
        var values: [String: GivenValue] = [:]
        for key in SiteConfiguration.secretKeys {
            guard let path = credentialPath(key, environment) else { break }
            guard let bytes = ConfigurationFile.read(path) else {
                // A secret that cannot be read must not silently be no secret.
                if errno != ENOENT {
                    let reason = "\(path): \(systemErrorText())"
                    faults.append(ConfigurationFault(key: key, reason: reason))
                }
                continue
            }
            // An editor ends a file with a line break, a secret does not.
            let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).map(String.init)
            guard let first = lines.first else {
                faults.append(ConfigurationFault(key: key, reason: "\(path): is empty"))
                continue
            }
            values[key] =
                if key == "localHub.keys" { .list(lines) } else if SiteConfiguration.documents.contains(key) {
                    .text(String(decoding: bytes, as: UTF8.self))
                } else { .text(first) }
        }
        return values
    }
}
