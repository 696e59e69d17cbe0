// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Server
import Store

/// What the commands are told that rewrite files of tables.
struct RewriteOptions: ParsableArguments {
    @OptionGroup var options: ConfigurationOptions
    @Flag(help: "Print one JSON object.") var json = false
    @Argument(help: "The tables; without any, all.") var tables: [String] = []

    /// Opens the store as its owner.
    /// - Throws: `Complaint`, when there is no such table.
    func open() throws -> (store: FileStore, tables: [StoreTable]) {
        let store = try StoreCommand.open(
            try StoreCommand.folder(options), forReading: false, onEvent: StoreCommand.complainOfEvent)
        return (store, try store.tablesOrComplain(tables))
    }
}
