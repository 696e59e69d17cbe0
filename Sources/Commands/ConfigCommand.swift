// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import JSON
import Server

/// `app-backend config`
struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Show the configuration, and the settings that there are.",
        subcommands: [Show.self, List.self, Schema.self])

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print each key with its value in force, and where that is from.",
            discussion: """
                From: file, environment (a variable), credential (a file of LoadCredential= or $CREDENTIALS_DIRECTORY), derived (it follows \
                from other keys) or default. A secret is printed as ***, a key without a value as -. It is what this process \
                reads: the service may have other variables and credentials.
                """)

        @OptionGroup var options: ConfigurationOptions
        @Flag(help: "Print one JSON object.") var json = false

        func run() throws {
            let environment = Environment.ofCommand(file: options.file)
            let configuration = try options.load(environment)
            let (file, settings) = try SiteConfiguration.settings(
                of: configuration, file: options.file, environment: environment)
            guard !json else { return print(Self.json(file, settings)) }
            print("file: \(file ?? "none")")
            let rows = settings.map { [$0.key, $0.source.rawValue, $0.text] }
            TextTable.lines(rows, textColumns: [0, 1, 2]).forEach { print($0) }
        }

        private static func json(_ file: String?, _ settings: [ConfigurationSetting]) -> String {
            JSONWriter.object { json in
                if let file { json.member("file", file) }
                json.member("settings", settings) { $0.writeMembers(to: &$1) }
            }.text
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print each setting that there is, with its values, its default and its meaning.")

        @Argument(help: "The beginning of the keys, such as hub. Without it: all.") var beginning = ""

        func run() throws {
            for row in SettingTable.all.sections.flatMap(\.rows) where row.key.hasPrefix(beginning) {
                print("\(row.key): \(row.formText)")
                let marks = [
                    row.defaultInWords.map { "Default: \($0)." }, row.traits.contains(.secret) ? "Secret." : nil,
                    row.traits.contains(.fixed) ? "Restart." : nil, row.plainText,
                ]
                print("    " + marks.compactMap(\.self).joined(separator: " "))
            }
        }
    }

    struct Schema: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print a JSON Schema of the configuration file, for editors.",
            discussion: """
                An editor that knows it completes keys, shows their meaning and marks wrong values. It has the form in which the \
                documentation writes values: the service also takes a number or a switch in quotation marks.
                """)

        func run() throws { print(SettingTable.all.schema) }
    }
}

extension ConfigurationSetting {
    fileprivate static let hidden = "***"

    /// The value in a line.
    fileprivate var text: String {
        switch value {
        case .text(let text): text
        case .list(let texts): "[\(texts.joined(separator: ", "))]"
        case .secret: Self.hidden
        case nil: "-"
        }
    }

    fileprivate func writeMembers(to json: inout JSONWriter) {
        json.member("key", key)
        switch value {
        case .text(let text): json.member("value", text)
        case .list(let texts): json.member("value", texts)
        case .secret: json.member("value", Self.hidden)
        case nil: break
        }
        json.member("source", source.rawValue)
    }
}
