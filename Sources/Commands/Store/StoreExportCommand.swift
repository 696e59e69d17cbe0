// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CPlatform
import Glibc
import Server
import Store
import System

/// `app-backend store export`
struct StoreExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write the whole site as JSON Lines, to be imported elsewhere.",
        discussion: """
            One record a line, between a first line that names the format and a last one that counts the records. For a \
            site that moves between a folder and PostgreSQL, or for other programs. The service may go on writing; what \
            is written meanwhile may be in it or not, so stop the service before a site moves for good. It holds secrets: \
            passwords' hashes, messages, devices' handles. The key for browsers (vapid.key) is not in it, nor what a newer \
            version or an administrator has added to records.
            """)

    @OptionGroup var options: ConfigurationOptions
    @Option(help: ArgumentHelp("A file that is not there yet, in place of standard output.", valueName: "file"))
    var output: String?

    func run() throws {
        guard output != nil || isatty(STDOUT_FILENO) == 0 else {
            throw CommandError("An export is nothing for a terminal: app-backend store export > site.jsonl")
        }
        let configuration = try options.load()
        // As the calling user: the store's owner may not write there.
        let descriptor = try output.map(create) ?? STDOUT_FILENO
        do {
            try StoreOwner.asOwner(of: configuration) { try export($0, to: descriptor) }
        } catch {
            // It would be in the way of the next try.
            if let output { unlink(output) }
            throw error
        }
    }

    private func export(_ configuration: SiteConfiguration, to descriptor: Int32) throws {
        let store = try Site.openStore(configuration, migrates: false) { Terminal.printError(of: $0) }
        var file = BufferedWriter(descriptor, name: output ?? "standard output")
        var writer = ExportWriter()
        var progress = Progress()
        var count = 0
        try file.add(writer.header(version: Version.text, now: Site.now()))
        try store.forEachRecord(now: Site.now()) { (record) throws(StoreError) in
            try file.add(writer.line(record))
            count += 1
            progress.tell("exported \(count) records, is at \(record.table)")
        }
        try file.add(writer.trailer)
        try file.flush()
        if output != nil { try file.sync() }
        Terminal.printError("\(count) records")
    }

    private func create(_ path: String) throws -> Int32 {
        let descriptor = platform_open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw CommandError("\(path) cannot be made: \(systemErrorText())")
        }
        return descriptor
    }
}
