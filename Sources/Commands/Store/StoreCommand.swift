// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FileStore
import Server
import Store

struct StoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store", abstract: "Manage the data store.",
        discussion: """
            Each of these but restore may be called while the service runs. export and import are for files and databases, migrate is \
            for databases, all others for the folder of store.path.
            """,
        subcommands: [
            StoreVerifyCommand.self, StoreBackupCommand.self, StoreRestoreCommand.self, StoreExportCommand.self,
            StoreImportCommand.self, StoreMigrateCommand.self,
        ])

    /// The folder of the configuration.
    /// - Throws: `CommandError`, when the state is not in one.
    static func folder(_ options: ConfigurationOptions) throws -> String {
        let store = try options.load().store
        guard let folder = store.folder else {
            throw CommandError(
                "This site stores its data in \(store). The command works only with a file store (store.path).")
        }
        return folder
    }

    /// Opens the store as its owner, for reading: nothing is changed, also not in a copy that was never opened.
    static func openForReading(_ path: String) throws -> FileSiteStore {
        var options = FileSiteStore.Options()
        options.isReadOnly = true
        do throws(StoreError) {
            return try FileSiteStore.open(path: StoreOwner.dropPrivileges(toOwnerOfFolder: path), options: options)
        } catch {
            guard error == .readOnly else { throw error }
            throw CommandError("There is no store in \(path).")
        }
    }
}
