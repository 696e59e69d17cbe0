// SPDX-License-Identifier: Apache-2.0
import CPostgres
import Store

/// libpq, as this host has it. It is opened when a database is first asked for, so that the program needs none before.
///
/// It is a class, so that a call reads one pointer of the table where it lies; out of a value all of them would be copied
/// first.
final class LibPQ: Sendable {
    /// What Debian's package libpq5 installs. The number is that of the binary interface, unchanged since 2006.
    private static let name = "libpq.so.5"

    /// Not written once it is filled, and never freed.
    private nonisolated(unsafe) static let table = postgres_load(name)

    let functions: postgres_functions

    /// - Throws: `unavailable`, when this host has no libpq.
    init() throws(StoreError) {
        guard let table = Self.table else {
            throw .unavailable(detail: "\(Self.name) is not installed (Debian: libpq5)")
        }
        functions = table.pointee
    }
}
