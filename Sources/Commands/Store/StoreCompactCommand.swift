// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Server
import Store

/// `app-backend store compact`
struct StoreCompactCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compact", abstract: "Drop what was superseded, removed or has expired, now.",
        discussion: """
            The service does it by itself, file by file; this does it at once, so that no old text or hash lies on the \
            disk any longer. Files are rewritten one by one, each under its lock. The file of a bucket that is split \
            stays for half an hour.
            """)

    @OptionGroup var options: RewriteOptions

    func run() throws {
        let (store, tables) = try options.open()
        var work = TableWork(verb: "compacted", prints: !options.json)
        for table in tables {
            try work.add(table) { (onFile) throws(StoreError) in
                try store.compact(table, now: Site.now(), onFile: onFile)
            }
        }
        if options.json { print(work.json) }
        try work.finish()
    }
}
