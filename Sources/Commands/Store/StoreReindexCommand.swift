// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Server
import Store
import Synchronization

/// `app-backend store reindex`
struct StoreReindexCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reindex", abstract: "Add what is missing in the indexes.",
        discussion: """
            The indexes find registrations by channel and tag, and devices and sessions by owner. A copy of a store is \
            reindexed by itself when it is opened for the first time; this does it again, after somebody removed or \
            edited files of an index.
            """)

    @OptionGroup var options: ConfigurationOptions
    @Flag(help: "Print one JSON object.") var json = false

    func run() throws {
        // Opening a copy for the first time has it done already.
        let added = Mutex(0)
        let store = try StoreCommand.open(try StoreCommand.folder(options), forReading: false) { event in
            if case .reindexed(let lines) = event { return added.withLock { $0 += lines } }
            Terminal.complain(of: event)
        }
        var progress = Progress()
        let more = try store.reindex(now: Site.now()) { progress.tell("has reindexed \($0)") }
        let count = added.withLock { $0 + more }
        print(json ? "{\"added\":\(count)}" : "added \(count) lines")
    }
}
