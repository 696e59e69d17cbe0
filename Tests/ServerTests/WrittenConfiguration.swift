// SPDX-License-Identifier: Apache-2.0
import Support
import Testing

@testable import Server

/// A configuration file of a test's own, as it is read.
struct WrittenConfiguration {
    let folder: ScratchFolder
    let configuration: SiteConfiguration?
    let faults: [ConfigurationFault]
    /// Of the configuration file.
    var path: String { file }
    private let file: String
    private let environment: Environment

    /// - Parameters:
    ///   - files: further files of the folder, by their names.
    ///   - environment: variables; `FOLDER` in a value becomes the folder's path.
    init(_ text: String, files: [String: String] = [:], environment: [String: String] = [:]) throws {
        let folder = try ScratchFolder()
        self.folder = folder
        for (name, content) in files {
            if let slash = name.lastIndex(of: "/") { _ = try folder.makeFolder(String(name[..<slash])) }
            try folder.write(content, to: name)
        }
        file = try folder.write(text, to: "app-backend.json")
        self.environment = Environment(environment.mapValues { $0.replacing("FOLDER", with: folder.path) })
        (configuration, faults) = SiteConfiguration.load(file: file, environment: self.environment)
    }

    /// The settings as an operator sees them, by key.
    func settings() throws -> [String: ConfigurationSetting] {
        guard let configuration else { return [:] }
        let found = try SiteConfiguration.settings(of: configuration, file: file, environment: environment)
        #expect(found.file == file)
        return Dictionary(uniqueKeysWithValues: found.settings.map { ($0.key, $0) })
    }

    func seen(_ row: ConfigurationValueTests.Row) throws -> ConfigurationValueTests.Seen {
        let setting = try settings()[row.key]
        return ConfigurationValueTests.Seen(
            faults: faults, value: configuration.map(row.read), source: setting?.source,
            isHidden: setting?.value.map { $0 == .secret })
    }
}
