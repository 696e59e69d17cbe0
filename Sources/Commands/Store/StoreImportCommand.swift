// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import JSON
import Server
import Store

/// `app-backend store import`
struct StoreImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Add the records of an export to this site.",
        discussion: """
            Every line is checked before the first record is added, and a line that is wrong is named by its number. A \
            record whose id is there already is left as it is, so an import that was broken off is simply done again. Do not \
            when the service has worked on the store since: what was delivered, ended or removed comes back. Quotas do not \
            count. The service may go on meanwhile.
            """)

    @OptionGroup var options: ConfigurationOptions
    @Flag(help: "Check the file and count; change nothing.") var dryRun = false
    @Flag(help: "Take a file whose end is missing.") var allowCut = false
    @Flag(help: "Print one JSON object.") var json = false
    @Argument(help: "The file; - or none for standard input.") var file = "-"

    /// Records that are put in together: many of them share a file and its flush.
    private static let batch = 10_000
    /// So many bytes of lines, too, and one line more: some records are long.
    private static let batchBytes = 8 << 20
    /// So many wrong lines are named.
    private static let maximumFaults = 20

    func run() throws {
        // As the calling user: the store's owner may not read it.
        let input = try LineReader(file)
        let read = try check(input)
        let total = read.counts.values.reduce(0, +)
        guard !dryRun else { return report(read, imported: nil, total) }
        var progress = Progress()
        let store = try options.openStore().store
        var (batch, bytes, done, imported) = ([StoredRecord](), 0, 0, 0)
        func put() throws(StoreError) {
            imported += try store.putRecords(batch, now: Site.now())
            done += batch.count
            batch.removeAll(keepingCapacity: true)
            bytes = 0
            progress.tell("imported \(done) of \(total) records")
        }
        try forEachRecord(input) { record, size in
            // By then the devices are in the store, which are before the registrations in an export.
            if record.record is HubRegistration, let last = batch.last, last.table != record.table { try put() }
            batch.append(try store.inItsNamespace(record))
            bytes += size
            if batch.count >= Self.batch || bytes >= Self.batchBytes { try put() }
        }
        try put()
        report(read, imported: imported, total)
    }

    /// Reads all of it before anything is changed.
    /// - Throws: `ExitCode` 1, after the wrong lines were named; `CommandError`, when the end is missing.
    private func check(_ input: LineReader) throws -> ExportReader {
        var progress = Progress()
        var (reader, faults) = (ExportReader(), 0)
        try input.forEachLine { line in
            do throws(ExportFault) {
                _ = try reader.read(line.bytes)
            } catch {
                // The line that the cut has hit.
                if !line.isEnded, !reader.hasEnded { return }
                faults += 1
                if faults <= Self.maximumFaults { Terminal.printError("\(file):\(line.number): \(error.reason)") }
            }
            progress.tell("checked \(line.number) lines")
        }
        guard faults == 0 else {
            let wrong = UserCommand.counted(
                faults, "line is wrong; nothing is imported", "lines are wrong; nothing is imported")
            Terminal.printError(wrong)
            throw ExitCode(1)
        }
        guard reader.hasEnded || allowCut && reader.hasBegun else {
            throw CommandError("The end of the export is missing, so records may be, too; nothing is imported.")
        }
        return reader
    }

    /// Calls `body` with each record and the bytes of its line.
    private func forEachRecord(_ input: LineReader, _ body: (StoredRecord, Int) throws -> Void) throws {
        var reader = ExportReader()
        try input.forEachLine { line in
            let record: StoredRecord?
            do throws(ExportFault) {
                record = try reader.read(line.bytes)
            } catch {
                if !line.isEnded { return }
                throw CommandError("\(file):\(line.number): \(error.reason): the file was changed meanwhile")
            }
            if let record { try body(record, line.bytes.count) }
        }
    }

    /// - Parameter imported: nil: nothing was to be imported.
    private func report(_ read: ExportReader, imported: Int?, _ total: Int) {
        guard json else {
            let left = imported.map { imported in
                let there = UserCommand.counted(total - imported, "was", "were")
                return "imported \(UserCommand.counted(imported, "record", "records")), \(there) there already"
            }
            return print(
                left ?? "\(UserCommand.counted(total, "record", "records")), all lines are right; nothing is imported")
        }
        let json = JSONWriter.object { json in
            json.member("records", total)
            json.member("imported", imported ?? 0)
            if let imported { json.member("existing", total - imported) }
            json.member("whole", read.hasEnded)
            json.member("tables") { $0.members(read.counts) }
        }
        print(json.text)
    }
}
