// SPDX-License-Identifier: Apache-2.0
import JSON

/// The table of settings as a JSON Schema of the configuration file, by which an editor completes keys and checks values. Members
/// that begin with `x-` are for the page of the reference.
extension SettingTable {
    package var schema: String {
        JSONWriter.object { json in
            json.member("$schema", "http://json-schema.org/draft-07/schema#")
            json.member("title", "Configuration of AppBackend")
            json.member("type", "object")
            json.member("additionalProperties", false)
            json.member("properties") { json in
                json.member("$schema") { $0.member("type", "string") }
                let defaults = values(in: SiteConfiguration())
                for section in sections {
                    for row in section.rows {
                        json.member(row.key) { row.write(to: &$0, section: section.title, default: defaults[row.key]) }
                    }
                }
                writeGroups(to: &json)
            }
            json.member("definitions") { json in
                for name in groupNames { json.member(name) { Self.write(group(name) ?? [], of: name, to: &$0) } }
            }
        }.text
    }

    /// `{"hub": {"timeout": 10}}` says the same as `{"hub.timeout": 10}`.
    private func writeGroups(to json: inout JSONWriter) {
        let members = sections.flatMap(\.rows).filter { !isInGroup($0.key) }
        var names: [String] = []
        for row in members {
            if let name = row.group, !names.contains(name) { names.append(name) }
        }
        for name in names { json.member(name) { Self.write(members.filter { $0.group == name }, of: name, to: &$0) } }
    }

    /// An object with the keys of a group.
    private static func write(_ rows: [Setting], of group: String, to json: inout JSONWriter) {
        json.member("type", "object")
        json.member("additionalProperties", false)
        json.member("properties") { json in
            for row in rows {
                json.member(String(row.key.dropFirst(group.count + 1))) { $0.member("$ref", "#/properties/\(row.key)") }
            }
        }
    }
}

extension Setting {
    /// `hub` of `hub.timeout`. `nil`: it is in no group.
    fileprivate var group: String? { key.firstIndex(of: ".").map { String(key[..<$0]) } }

    fileprivate func write(to json: inout JSONWriter, section: String, default value: ConfigurationSetting.Value?) {
        writeForm(to: &json)
        json.member("description", plainText)
        if defaultText == nil { writeDefault(value, to: &json) }
        if traits.contains(.secret) { json.member("writeOnly", true) }
        json.member("x-section", section)
        if about != plainText { json.member("x-about", about) }
        if let defaultText { json.member("x-default", defaultText) }
        if traits.contains(.fixed) { json.member("x-restart", true) }
    }

    private func writeForm(to json: inout JSONWriter) {
        switch form {
        case .text: json.member("type", "string")
        case .number(let range):
            json.member("type", "integer")
            json.member("minimum", range.lowerBound)
            json.member("maximum", range.upperBound)
        case .flag: json.member("type", "boolean")
        case .choice(let words): json.member("enum", words)
        case .list(let words):
            json.member("type", "array")
            json.member("items") { items in
                if let words { items.member("enum", words) } else { items.member("type", "string") }
            }
        case .groups(let maximum):
            let group = "#/definitions/\(key)"
            json.name("anyOf")
            json.array { json in
                json.object { $0.member("$ref", group) }
                json.object { json in
                    json.member("type", "array")
                    json.member("items") { $0.member("$ref", group) }
                    if let maximum { json.member("maxItems", maximum) }
                }
            }
        }
    }

    private func writeDefault(_ value: ConfigurationSetting.Value?, to json: inout JSONWriter) {
        switch (value, form) {
        case (.text(let text)?, .number): json.member("default", Int(text) ?? 0)
        case (.text(let text)?, .flag): json.member("default", text == "true")
        case (.text(let text)?, _): json.member("default", text)
        case (.list(let texts)?, _): json.member("default", texts)
        case (.secret?, _), (nil, _): break
        }
    }
}

extension Setting {
    /// The values that it takes, for people.
    package var formText: String {
        switch form {
        case .text: "text"
        case .number(let range): "\(range.lowerBound) to \(range.upperBound)"
        case .flag: "true or false"
        case .choice(let words): words.joined(separator: ", ")
        case .list(let words): "list" + (words.map { " out of \($0.joined(separator: ", "))" } ?? "")
        case .groups(let maximum): "group of keys, or a list of \(maximum.map { "up to \($0)" } ?? "them")"
        }
    }

    /// The default, for people. `nil`: none.
    package var defaultInWords: String? {
        if let defaultText { return defaultText }
        return switch values(SiteConfiguration()).first?.value {
        case .text(let text)?: text
        case .list(let texts)?: "[\(texts.joined(separator: ", "))]"
        case .secret?, nil: nil
        }
    }

    /// The sentences without the targets of links.
    package var plainText: String {
        var parts = about.split(separator: "](", omittingEmptySubsequences: false).map(String.init)
        for index in parts.indices.dropFirst() {
            parts[index] = String(parts[index].drop { $0 != ")" }.dropFirst())
        }
        for index in parts.indices.dropLast() {
            guard let bracket = parts[index].lastIndex(of: "[") else { continue }
            parts[index].remove(at: bracket)
        }
        return parts.joined()
    }
}
