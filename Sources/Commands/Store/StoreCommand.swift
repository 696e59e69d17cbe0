// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Server
import Store

struct StoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store", abstract: "Look after what keeps the state.",
        discussion: """
            Each of these may be called while the service runs. export and import are for files and databases, migrate is \
            for databases, all others for the folder of store.path.
            """,
        subcommands: [
            StoreVerifyCommand.self, StoreStatsCommand.self, StoreReindexCommand.self, StoreCompactCommand.self,
            StoreSealCommand.self, StoreShowCommand.self, StoreEditCommand.self, StoreBackupCommand.self,
            StoreExportCommand.self, StoreImportCommand.self, StoreMigrateCommand.self,
        ])

    /// The folder of the configuration.
    /// - Throws: `Complaint`, when the state is not in one.
    static func folder(_ options: ConfigurationOptions) throws -> String {
        let store = try options.load().store
        guard let folder = store.folder else {
            throw Complaint("The state is in \(store); this is for the folder of store.path.")
        }
        return folder
    }

    /// Opens the store as its owner.
    /// - Parameter forReading: nothing is changed, also not in a copy that was never opened.
    static func open(
        _ path: String, forReading: Bool, onEvent: @escaping @Sendable (StoreEvent) -> Void = { _ in }
    ) throws -> FileStore {
        var options = FileStore.Options()
        options.isReadOnly = forReading
        options.onEvent = onEvent
        do throws(StoreError) {
            return try FileStore.open(path: StoreOwner.become(ownerOf: path), options: options)
        } catch {
            guard forReading, error == .readOnly else { throw error }
            throw Complaint("There is no store in \(path).")
        }
    }

    /// Opens the site's store, whatever it keeps its records in, as its owner.
    static func openSite(_ options: ConfigurationOptions) throws -> any SiteStore {
        var configuration = try options.load()
        try StoreOwner.become(for: &configuration)
        return try Site.openStore(configuration, report: complainOfEvent)
    }

    /// What the administrator should hear while a command writes. That files are rewritten is what he asked for.
    static let complainOfEvent: @Sendable (StoreEvent) -> Void = { Terminal.complain(of: $0) }
}

extension FileStore {
    /// - Throws: `Complaint`, when there is none of that name.
    func tableOrComplain(_ name: String) throws -> StoreTable {
        guard let table = table(name) else {
            throw Complaint("There is no such table; there are: \(allTables.map(\.name).joined(separator: ", "))")
        }
        return table
    }

    /// - Parameter names: none stand for all tables.
    func tablesOrComplain(_ names: [String]) throws -> [StoreTable] {
        names.isEmpty ? allTables : try names.map(tableOrComplain)
    }
}
