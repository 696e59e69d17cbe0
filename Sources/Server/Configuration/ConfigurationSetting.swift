// SPDX-License-Identifier: Apache-2.0

/// A key of the configuration: its value in force, and where that is from.
package struct ConfigurationSetting: Equatable, Sendable {
    package enum Source: String, Sendable {
        /// A file of `$CREDENTIALS_DIRECTORY`.
        case credential
        case environment, file
        /// It follows from other keys.
        case derived
        case `default`
    }

    package enum Value: Equatable, Sendable {
        case text(String)
        case list([String])
        /// It is set, and not shown.
        case secret
    }

    package let key: String
    /// nil: none.
    package let value: Value?
    package let source: Source
}

extension SiteConfiguration {
    /// Every key of the configuration; of an app's group those that are set, or have a value anyway.
    /// - Parameters: as of `load`, which has read `configuration`.
    /// - Throws: `ConfigurationFault`, when the file cannot be read any more.
    package static func settings(
        of configuration: SiteConfiguration, file: String?, environment: Environment = .process
    ) throws(ConfigurationFault) -> (file: String?, settings: [ConfigurationSetting]) {
        let table = configuration.table
        let sources = try ConfigurationSources(file: file, environment, CredentialFiles(environment, table), table)
        let (values, defaults) = (table.values(in: configuration), table.values(in: SiteConfiguration()))
        let keys = Set(table.keys).union(sources.file.keys).union(values.keys)
        let settings = keys.sorted().compactMap { key -> ConfigurationSetting? in
            let given = sources.setting(key)
            let isInGroup = table.isInGroup(key)
            if given == nil, values[key] == nil, isInGroup { return nil }
            let value = given.map { table.shown(key, values[key], $0.value) } ?? values[key]
            let isDefault = isInGroup || values[key] == defaults[key]
            return ConfigurationSetting(
                key: key, value: value, source: given?.source ?? (isDefault ? .default : .derived))
        }
        return (sources.path, settings)
    }
}

extension SettingTable {
    /// The values of those keys that have one, whether they are set or not.
    func values(in configuration: SiteConfiguration) -> [String: ConfigurationSetting.Value] {
        Dictionary(rows.flatMap { $0.values(configuration) }.map { ($0.key, $0.value) }) { first, _ in first }
    }

    /// - Parameter value: in force, as the configuration has it, with absolute paths; nil: it does not have it.
    fileprivate func shown(
        _ key: String, _ value: ConfigurationSetting.Value?, _ given: GivenValue
    ) -> ConfigurationSetting.Value {
        let traits = self[key]?.traits ?? []
        // An address may have a user and a password in it; that of a proxy also without a scheme.
        let isSecret =
            traits.contains(.secret)
            || given.texts.contains { $0.contains("@") && ($0.contains("://") || traits.contains(.address)) }
        if isSecret { return .secret }
        if let value { return value }
        return switch given {
        case .text(let text): .text(text)
        case .list(let texts): .list(texts)
        }
    }
}
