// SPDX-License-Identifier: Apache-2.0
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
    let environment: Environment
    let table: SettingTable
    private let credentials: CredentialFiles

    /// - Throws: `ConfigurationFault`, when the file cannot be read or is not a JSON object.
    init(
        file: String?, _ environment: Environment, _ credentials: CredentialFiles, _ table: SettingTable
    ) throws(ConfigurationFault) {
        self.table = table
        path = file ?? ConfigurationFile.defaultPath(environment)
        var values: [String: GivenValue] = [:]
        if let path {
            let file = try ConfigurationFile(path: path, table)
            values = file.values
            faults = file.faults + file.emptyObjects.compactMap { Self.emptyObjectFault($0, table) }
            if let fault = DecidingFile.fault(of: path) { faults.append(fault) }
        }
        faults += values.keys.filter { table[$0] == nil }.sorted().map { Self.unknownKey($0, table) }
        self.file = values.filter { table[$0.key] != nil }
        self.environment = environment
        self.credentials = credentials
        faults += credentials.faults
    }

    /// The files of the credentials that are there, by their keys.
    var credentialPaths: [String: String] { credentials.paths }

    /// The value that counts, and where it is from; nil: the key is set nowhere.
    func setting(_ key: String) -> (source: ConfigurationSetting.Source, value: GivenValue)? {
        if let value = credentials.values[key] { return (.credential, value) }
        if let text = environment[setting: key] { return (.environment, .text(text)) }
        return file[key].map { (.file, $0) }
    }

    /// An empty group, `"limits": {}`, is the same as no group; a key's own value is no object.
    private static func emptyObjectFault(_ key: String, _ table: SettingTable) -> ConfigurationFault? {
        if table.keys.contains(key) { return ConfigurationFault(key: key, reason: "must be a value, not an object") }
        guard !table.keys.contains(where: { $0.hasPrefix(key + ".") }) else { return nil }
        return unknownKey(key, table)
    }

    private static func unknownKey(_ key: String, _ table: SettingTable) -> ConfigurationFault {
        let near = SimilarName.nearest(to: table.general(key), of: table.keys)
        let suggestion = near.map { "; did you mean \($0)?" } ?? ""
        return ConfigurationFault(key: key, reason: "there is no such key" + suggestion)
    }
}
