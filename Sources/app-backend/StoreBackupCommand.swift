// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
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
        var output = ArchiveOutput()
        let archive = try store.archive { (bytes) throws(StoreError) in try output.add(bytes) }
        try output.flush()
        for name in archive.skipped { Terminal.complain("\(name) is neither a file nor a folder and is left out") }
        Terminal.complain("\(archive.files) files")
        // A table that somebody has moved elsewhere and left a link to, perhaps.
        if !archive.skipped.isEmpty { throw ExitCode(1) }
    }
}

/// Standard output, in larger pieces than those that come.
private struct ArchiveOutput {
    private static let pieceBytes = 256 << 10
    private var bytes: [UInt8] = []

    mutating func add(_ more: [UInt8]) throws(StoreError) {
        bytes += more
        if bytes.count >= Self.pieceBytes { try flush() }
    }

    mutating func flush() throws(StoreError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .unavailable(detail: "standard output: \(String(cString: strerror(errno)))") }
            rest = rest.dropFirst(count)
        }
        bytes.removeAll(keepingCapacity: true)
    }
}
