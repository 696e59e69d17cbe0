// SPDX-License-Identifier: Apache-2.0
import CPostgres

/// What libpq makes of a URL: each option that it knows, with the value that the URL gives it.
struct URLOptions {
    let values: [(name: String, value: String?)]

    /// Nil, when it is no URL of libpq's.
    init?(parsing url: String, _ library: LibPQ) {
        guard let parsed = library.functions.PQconninfoParse(url, nil) else { return nil }
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
