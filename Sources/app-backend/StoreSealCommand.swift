// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Store

/// `app-backend store seal`
struct StoreSealCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "seal", abstract: "Give lines that were edited by hand the right checksum.",
        discussion: """
            Such lines count as they are, and are reported as edited; sealed ones count as written. Lines that cannot be \
            read stay as they are: `app-backend store verify` names them. Files are rewritten one by one, each under its \
            lock. After edits of what an index knows, `app-backend store reindex`.
            """)

    @OptionGroup var options: ConfigurationOptions
    @Flag(help: "Print one JSON object.") var json = false
    @Argument(help: "The tables; without any, all.") var tables: [String] = []

    func run() throws {
        let store = try StoreCommand.open(
            try StoreCommand.folder(options), forReading: false, onEvent: StoreCommand.complainOfEvent)
        var work = TableWork(verb: "sealed", prints: false)
        for table in try store.tablesOrComplain(tables) {
            try work.add(table) { (onFile) throws(StoreError) in
                try store.seal(table, onFile: onFile)
            }
        }
        print(json ? work.json : "sealed \(work.total.sealedLines) lines in \(work.total.rewritten) files")
        try work.finish()
    }
}
