// SPDX-License-Identifier: Apache-2.0
import PostgresServer
import PostgresStore
import Store

/// A database of a test's own, with the schema in it.
struct Site {
    let server: PostgresServer
    let url: String

    /// - Parameter server: nil: the one that all tests share.
    init(_ server: PostgresServer? = nil, isMigrated: Bool = true) throws {
        let server = try server ?? PostgresServer.shared.get()
        self.server = server
        url = try server.makeDatabase()
        if isMigrated { _ = try PostgresStore.migrate(url: url) }
    }

    func open(_ adjust: (inout PostgresStore.Options) -> Void = { _ in }) throws -> PostgresStore {
        var options = PostgresStore.Options()
        adjust(&options)
        return try PostgresStore.open(url: url, options: options)
    }

    @discardableResult func run(_ sql: String) throws -> String { try server.run(sql, url: url) }
}
