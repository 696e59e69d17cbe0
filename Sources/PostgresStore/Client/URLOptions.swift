// SPDX-License-Identifier: Apache-2.0
import CPostgres

/// What libpq makes of a URL: each option that it knows, with the value that the URL gives it.
struct URLOptions {
    let values: [(name: String, value: String?)]

    /// Nil, when it is no URL of libpq's.
    init?(parsing url: String, _ library: LibPQ) {
        guard let parsed = library.functions.PQconninfoParse(url, nil) else { return nil }
        self.init(taking: parsed, library)
    }

    /// Reads libpq's list and frees it.
    init(taking parsed: UnsafeMutablePointer<PQconninfoOption>, _ library: LibPQ) {
        defer { library.functions.PQconninfoFree(parsed) }
        var values: [(name: String, value: String?)] = []
        var option = parsed
        // The one behind the last has no name.
        while let name = option.pointee.keyword {
            values.append((String(cString: name), option.pointee.val.map { String(cString: $0) }))
            option += 1
        }
        self.values = values
    }

    subscript(name: String) -> String? { values.first { $0.name == name }?.value }
}

extension ConnectionSettings {
    /// What is wrong with a URL that libpq does not take, in our own words: its own repeat parts of it. The name of an option
    /// is repeated, unless an `@` comes behind it or a password before it: then it may be the rest of a password that should
    /// have been escaped.
    static func fault(of url: String, options: [String]) -> String {
        let kind = "the URL is not of the form postgresql://user@host/database"
        guard PostgresSiteStore.schemes.contains(where: url.hasPrefix), let start = url.firstIndex(of: "?") else {
            return kind
        }
        let query = url[url.index(after: start)...]
        guard !query.contains("@") else { return kind }
        let names = query.split(separator: "&").prefix(while: isPlain).map { $0.prefix { $0 != "=" } }
        let unknown = names.first { name in !options.contains { $0 == name } }
        return unknown.map { "libpq knows no option \($0), which the URL has" } ?? kind
    }

    /// Whether it is an option with a name of the usual kind and a value, and is no password.
    private static func isPlain(_ option: Substring) -> Bool {
        guard let end = option.firstIndex(of: "=") else { return false }
        let name = option[..<end]
        return (1...40).contains(name.utf8.count) && name.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x5F }
            && !name.contains("password") && !name.contains("secret")
    }
}
