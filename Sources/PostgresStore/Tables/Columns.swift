// SPDX-License-Identifier: Apache-2.0

/// The columns of a table that hold a record, in the order of its values: $1, $2 and so on.
struct Columns: ExpressibleByArrayLiteral, CustomStringConvertible, Sendable {
    let names: [String]

    init(arrayLiteral names: String...) { self.names = names }

    /// `id, owner`
    var description: String { names.joined(separator: ", ") }

    /// `$1, $2`
    var parameters: String { names.indices.map { "$\($0 + 1)" }.joined(separator: ", ") }

    /// `$3`: of a value behind those of the columns, the first of which is 1.
    func parameter(behind place: Int) -> String { "$\(names.count + place)" }

    /// `owner = $2`: of all but the key.
    func assignments(key: [String] = ["id"]) -> String {
        names.enumerated().filter { !key.contains($1) }.map { "\($1) = $\($0 + 1)" }.joined(separator: ", ")
    }
}
