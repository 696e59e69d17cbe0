// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Store

struct StoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store", abstract: "Look after the folder that keeps the state.",
        discussion: "Each of these may be called while the service runs.",
        subcommands: [
            StoreVerifyCommand.self, StoreReindexCommand.self, StoreBackupCommand.self, StoreMigrateCommand.self,
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
}
