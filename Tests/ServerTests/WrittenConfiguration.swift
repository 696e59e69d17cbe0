// SPDX-License-Identifier: Apache-2.0
import Support

@testable import Server

/// A configuration file of a test's own, as it is read.
struct WrittenConfiguration {
    let folder: ScratchFolder
    let configuration: SiteConfiguration?
    let faults: [ConfigurationFault]

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
        let file = try folder.write(text, to: "app-backend.json")
        let variables = environment.mapValues { $0.replacing("FOLDER", with: folder.path) }
        (configuration, faults) = SiteConfiguration.load(file: file, environment: Environment(variables))
    }
}
