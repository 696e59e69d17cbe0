// SPDX-License-Identifier: Apache-2.0
import Glibc
import NotificationHub
import System

/// Reads keys and collects what is wrong with them.
struct ConfigurationReading {
    let sources: ConfigurationSources
    /// Where relative paths begin; nil: there is no file, and no such place.
    let folder: String?
    private(set) var faults: [ConfigurationFault] = []
    /// Files that were named and hold a secret, by their keys.
    private(set) var secretFiles: [(String, String)] = []
    /// Keys that were asked for and are none that an operator may set: a value could never be given to them.
    private var unlisted: Set<String> = []

    /// What is wrong with this program.
    var defects: [ConfigurationFault] {
        unlisted.sorted().map {
            ConfigurationFault(key: $0, reason: "is read and not listed: a defect of this program, please report it")
        }
    }

    init(_ sources: ConfigurationSources) {
        self.sources = sources
        folder = sources.path.flatMap(ConfigurationFile.folder(of:))
    }

    private mutating func note(_ key: String) {
        if table[key] == nil { unlisted.insert(key) }
    }

    var table: SettingTable { sources.table }

    /// - Parameter channel: the platform that alone is off because of it; nil: a service cannot start.
    mutating func fault(_ key: String, _ reason: String, of channel: Platform? = nil) {
        let fault = ConfigurationFault(key: key, reason: reason, channel: channel)
        // A key may be read twice: by its row, and together with others.
        if !faults.contains(fault) { faults.append(fault) }
    }

    mutating func noteSecretFile(_ key: String, _ path: String) {
        secretFiles.append((key, path))
    }

    /// An empty value is the same as none, so that an environment variable can be emptied.
    mutating func text(_ key: String) -> String? {
        note(key)
        if case .list? = sources.file[key] { fault(key, "must be one value, not a list") }
        guard case .text(let text)? = sources.setting(key)?.value, !text.isEmpty else { return nil }
        return text
    }

    /// A variable holds its elements between commas.
    mutating func list(_ key: String) -> [String]? {
        note(key)
        if case .text? = sources.file[key] { fault(key, "must be a list") }
        let elements: [String]? =
            switch sources.setting(key) {
            case (.environment, .text(let text))?:
                text.split(separator: ",", omittingEmptySubsequences: false).map { String($0.trimming(\.isWhitespace)) }
            case (_, .list(let texts))?: texts.map { String(Substring($0).trimming { $0 == " " }) }
            default: nil
            }
        return elements
    }

    /// A number in the range of its row.
    mutating func number(_ key: String) -> Int? {
        guard let text = text(key), case .number(let range)? = table[key]?.form else { return nil }
        guard let number = Int(text), range.contains(number) else {
            fault(key, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
            return nil
        }
        return number
    }

    mutating func flag(_ key: String) -> Bool? {
        guard let text = text(key) else { return nil }
        switch text.lowercased() {
        case "true", "yes", "1": return true
        case "false", "no", "0": return false
        default:
            fault(key, "must be true or false")
            return nil
        }
    }

    /// An absolute path. A relative one begins at the folder of the configuration file, wherever the process was
    /// started, so that a folder with all that belongs together can be moved.
    /// - Returns: nil, when there is none.
    mutating func path(_ key: String) -> String? {
        guard let text = text(key) else { return nil }
        guard let path = absolute(text) else {
            fault(key, "must be an absolute path, for there is no configuration file that it could lie beside")
            return nil
        }
        if let setting = sources.environment.unit?.hiding(path) {
            fault(
                key,
                "\(path) is hidden from the service by \(setting)= of its unit: use a folder such as /etc/app-backend")
        }
        return path
    }

    private func absolute(_ path: String) -> String? {
        if path.hasPrefix("/") { return path }
        return folder.map { $0 == "/" ? "/" + path : $0 + "/" + path }
    }

    /// The path of a file that holds certificates.
    mutating func certificates(_ key: String) -> String? {
        guard let path = path(key) else { return nil }
        guard let bytes = ConfigurationFile.read(path) else {
            fault(key, "cannot be read: \(systemErrorText())")
            return nil
        }
        if !String(decoding: bytes, as: UTF8.self).contains("-----BEGIN CERTIFICATE-----") {
            fault(key, "holds no certificate in PEM form")
        }
        return path
    }

    /// Notes a fault where others than its owner may change a file that decides who is who.
    mutating func checkWriters(_ key: String, _ path: String?) {
        if let path, let fault = DecidingFile.fault(of: path, key) { faults.append(fault) }
    }

    /// Those of a list of names, each of which must be one of `all`.
    mutating func values<Value: RawRepresentable<String>>(
        _ all: [Value], named names: [String], _ key: String
    ) -> [Value] {
        let found = names.compactMap { name in all.first { $0.rawValue == name.lowercased() } }
        if found.isEmpty || found.count != names.count {
            fault(key, "must be a list out of \(all.map(\.rawValue).joined(separator: ", "))")
        }
        return found
    }

    mutating func choice<Value: RawRepresentable & CaseIterable>(_ key: String) -> Value?
    where Value.RawValue == String {
        guard let text = text(key) else { return nil }
        guard let value = Value(rawValue: text.lowercased()) else {
            fault(key, "must be one of \(Value.allCases.map(\.rawValue).joined(separator: ", "))")
            return nil
        }
        return value
    }
}

extension Substring {
    /// Without those characters at both ends.
    func trimming(_ isOuter: (Character) -> Bool) -> Substring {
        var rest = drop(while: isOuter)
        while let last = rest.last, isOuter(last) { rest.removeLast() }
        return rest
    }
}
