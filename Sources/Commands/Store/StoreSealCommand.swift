// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Server
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

    @OptionGroup var options: RewriteOptions

    func run() throws {
        let (store, tables) = try options.open()
        var work = TableWork(verb: "sealed", prints: false)
        for table in tables {
            try work.add(table) { (onFile) throws(StoreError) in
                try store.seal(table, onFile: onFile)
            }
        }
        print(options.json ? work.json : "sealed \(work.total.sealedLines) lines in \(work.total.rewritten) files")
        try work.finish()
    }
}
