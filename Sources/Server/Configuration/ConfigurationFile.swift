// SPDX-License-Identifier: Apache-2.0
import Glibc
import JSON
import System
import Text

/// The configuration file, flattened: `{"hub":{"timeout":10}}` gives the key `hub.timeout`.
package struct ConfigurationFile {
    /// A larger file is not a configuration, in bytes.
    static let maximumBytes = 1 << 20

    private(set) var values: [String: GivenValue] = [:]
    /// Keys that are in the file twice, as `"a.b"` and as `"a":{"b"}`, and lists with an element that is not one value.
    private(set) var faults: [ConfigurationFault] = []
    /// Keys whose value is `{}`.
    private(set) var emptyObjects: [String] = []

    /// The file that is read when none was named: `$APP_BACKEND_CONFIG`, one beside the executable, one in `/etc`.
    package static func defaultPath(_ environment: Environment = .process) -> String? {
        if let path = environment["APP_BACKEND_CONFIG"] { return path }
        return [besideExecutable, systemPath].first { access($0, F_OK) == 0 }
    }

    /// Where a host has it on which the operator is not root.
    static var besideExecutable: String {
        (executable.lastIndex(of: "/").map { String(executable[...$0]) } ?? "./") + "app-backend.json"
    }

    /// Where the package has it.
    package static let systemPath = "/etc/app-backend/app-backend.json"

    /// The path of this program; empty where /proc is not mounted.
    package static var executable: String {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink("/proc/self/exe", &path, path.count)
        return String(decoding: path.prefix(max(0, length)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The folder of a file, as an absolute path; nil when the working directory has none.
    static func folder(of path: String) -> String? {
        guard let slash = path.lastIndex(of: "/") else { return workingDirectory }
        let folder = slash == path.startIndex ? "/" : String(path[..<slash])
        return folder.hasPrefix("/") ? folder : workingDirectory.map { $0 + "/" + folder }
    }

    private static var workingDirectory: String? {
        guard let path = getcwd(nil, 0) else { return nil }
        defer { free(path) }
        return String(cString: path)
    }

    /// - Throws: `ConfigurationFault`, when the file cannot be read or is not a JSON object.
    init(path: String, _ table: SettingTable) throws(ConfigurationFault) {
        guard let bytes = Self.read(path) else {
            throw ConfigurationFault(key: path, reason: "cannot be read: \(systemErrorText())")
        }
        do throws(JSONSyntaxError) {
            let document = try JSONValue(parsing: bytes)
            guard let members = document.members else {
                throw JSONSyntaxError(offset: 0, reason: "expected an object")
            }
            // By it an editor finds the schema.
            flatten(members.filter { $0.name != "$schema" }, prefix: "", table)
        } catch {
            throw ConfigurationFault(key: path, reason: "\(error.reason) in line \(Self.line(of: error, in: bytes))")
        }
    }

    /// Everything becomes text, and is checked as text, so that file, environment and credentials have one rule.
    private mutating func flatten(_ members: [JSONValue.Member], prefix: String, _ table: SettingTable) {
        for member in members {
            let key = prefix + member.name
            switch member.value {
            case .null: continue
            case .object(let inner) where inner.isEmpty: emptyObjects.append(key)
            case .object(let inner): flatten(inner, prefix: key + ".", table)
            case .array(let elements)
            where table.group(key) != nil && elements.allSatisfy({ $0.members?.isEmpty == false }):
                for (index, element) in elements.enumerated() {
                    flatten(element.members ?? [], prefix: "\(key).\(index).", table)
                }
            case .array(let elements):
                let texts = elements.compactMap(Self.text)
                if texts.count < elements.count {
                    faults.append(ConfigurationFault(key: key, reason: "must be a list of single values"))
                }
                set(key, .list(texts))
            default: Self.text(member.value).map { set(key, .text($0)) }
            }
        }
    }

    private mutating func set(_ key: String, _ value: GivenValue) {
        let isNew = values.updateValue(value, forKey: key) == nil
        if !isNew { faults.append(ConfigurationFault(key: key, reason: "is set twice")) }
    }

    /// nil for what is not a single value.
    private static func text(_ value: JSONValue) -> String? {
        switch value {
        case .string(let text), .number(let text): text
        case .bool(let value): String(value)
        case .null, .array, .object: nil
        }
    }

    private static func line(of error: JSONSyntaxError, in bytes: [UInt8]) -> Int {
        bytes.prefix(error.offset).count { $0 == UInt8(ascii: "\n") } + 1
    }

    /// The file's bytes, without a byte order mark; nil, and `errno`, when it cannot be read.
    package static func read(_ path: String) -> [UInt8]? {
        // Standard input is open: to open its name again is refused where another user has made the pipe, as under `sudo -u`.
        // A pipe of another name without a writer must not stop us.
        let descriptor =
            path == "/dev/stdin"
            ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return read(from: descriptor)
    }

    /// Reads an open file, as `read` does one by its path.
    static func read(from descriptor: Int32) -> [UInt8]? {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while bytes.count <= maximumBytes {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            guard count >= 0 else { return nil }
            if count == 0 { return bytes.withoutByteOrderMark }
            bytes += chunk.prefix(count)
        }
        errno = EFBIG
        return nil
    }
}
