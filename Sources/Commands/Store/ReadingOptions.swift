// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Server
import Store

/// What the commands are told that only read a store.
struct ReadingOptions: ParsableArguments {
    @OptionGroup var options: ConfigurationOptions
    @Option(help: ArgumentHelp("Another folder than that of the configuration: a backup.", valueName: "path"))
    var folder: String?

    /// Opens the store as its owner; nothing is changed, also not in a copy that was never opened.
    func open() throws -> FileStore {
        try StoreCommand.open(try folder ?? StoreCommand.folder(options), forReading: true)
    }
}
