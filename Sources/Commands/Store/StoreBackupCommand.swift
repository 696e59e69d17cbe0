// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import Server
import Store

/// `app-backend store backup`
struct StoreBackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Write the whole store to standard output, as a tar archive.",
        discussion: """
            For `app-backend store backup > store.tar`, or through ssh from another host. The service may go on writing. \
            `tar -xf store.tar -C FOLDER` unpacks it, and the store is reindexed when it is opened there. The archive \
            holds secrets: passwords' hashes, messages, and the key for browsers.
            """)

    @OptionGroup var options: ConfigurationOptions

    func run() throws {
        guard isatty(STDOUT_FILENO) == 0 else {
            throw Complaint("An archive is nothing for a terminal: app-backend store backup > store.tar")
        }
        let store = try StoreCommand.open(try StoreCommand.folder(options), forReading: true)
        var output = PieceWriter()
        let archive = try store.archive { (bytes) throws(StoreError) in try output.add(bytes) }
        try output.flush()
        for name in archive.skipped { Terminal.complain("\(name) is neither a file nor a folder and is left out") }
        Terminal.complain("\(archive.files) files")
        // A table that somebody has moved elsewhere and left a link to, perhaps.
        if !archive.skipped.isEmpty { throw ExitCode(1) }
    }
}
