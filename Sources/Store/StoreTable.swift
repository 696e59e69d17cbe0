// SPDX-License-Identifier: Apache-2.0

/// A table of the store by its name, as an administrator's commands name it: `users`, `hub/registrations`.
package struct StoreTable: Sendable {
    let table: BucketTable
    /// Whether its lines only lead to records of another table.
    package let isIndex: Bool

    package var name: String { table.schema.name }
}

extension FileStore {
    /// All tables, in the order of their names.
    package var allTables: [StoreTable] {
        let indexes = Set([ownerIndex, sessionIndex, channelIndex, tagIndex].map(\.schema.name))
        return tables.map { StoreTable(table: $0, isIndex: indexes.contains($0.schema.name)) }
            .sorted { $0.name < $1.name }
    }

    /// - Returns: nil, when there is none of that name.
    package func table(_ name: String) -> StoreTable? {
        allTables.first { $0.name == name }
    }
}
