// SPDX-License-Identifier: Apache-2.0

/// The columns of a table that hold a record, in the order of its values: $1, $2 and so on.
struct Columns: CustomStringConvertible, Sendable {
    let names: [String]

    init(_ names: [String]) { self.names = names }

    /// `id, owner`
    var description: String { names.joined(separator: ", ") }

    /// `$1, $2`
    var parameters: String { parameters(from: 1) }

    func parameters(from first: Int) -> String {
        names.indices.map { "$\($0 + first)" }.joined(separator: ", ")
    }

    /// `$3`: of a value behind those of the columns, the first of which is 1.
    func parameter(behind place: Int) -> String { "$\(names.count + place)" }

    /// `$2`: of the column's value.
    subscript(name: String) -> String { names.firstIndex(of: name).map { "$\($0 + 1)" } ?? "NULL" }

    /// `owner = $2`: of all but the key.
    func assignments(key: [String] = ["id"]) -> String {
        names.enumerated().filter { !key.contains($1) }.map { "\($1) = $\($0 + 1)" }.joined(separator: ", ")
    }
}
