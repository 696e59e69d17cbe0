// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import JSON
import Store

/// Rewrites tables one after the other, tells how far it is, and what came of it.
struct TableWork {
    /// What is done to files: `compacted`.
    let verb: String
    /// Whether a line for each table goes to standard output.
    let prints: Bool
    private(set) var total = RewriteReport()
    private var byTable: [(name: String, report: RewriteReport)] = []
    private var progress = Progress()

    init(verb: String, prints: Bool) {
        self.verb = verb
        self.prints = prints
    }

    mutating func add(
        _ table: StoreTable, _ rewrite: (_ onFile: () -> Void) throws(StoreError) -> RewriteReport
    ) throws(StoreError) {
        var progress = progress
        var files = 0
        let report = try rewrite {
            files += 1
            progress.tell("\(verb) \(table.name): \(files) files")
        }
        self.progress = progress
        total += report
        byTable.append((table.name, report))
        if prints {
            print("\(table.name): \(report.bytesBefore) bytes before, \(report.bytesAfter) after, ", terminator: "")
            print("\(report.rewritten) of \(report.files) files rewritten")
        }
    }

    /// - Throws: `ExitCode` 1, when a file was left as it was.
    func finish() throws {
        guard total.busy > 0 else { return }
        Terminal.complain("\(total.busy) files were locked by others for too long, and are as they were: try again")
        throw ExitCode(1)
    }

    var json: String {
        var json = JSONWriter()
        json.object { json in
            write(total, to: &json)
            json.tables(byTable.map { ($0.name, $0.report) }, write)
        }
        return String(decoding: json.bytes, as: UTF8.self)
    }

    private func write(_ report: RewriteReport, to json: inout JSONWriter) {
        json.member("files", report.files)
        json.member("rewritten", report.rewritten)
        json.member("busy", report.busy)
        json.member("bytesBefore", report.bytesBefore)
        json.member("bytesAfter", report.bytesAfter)
        json.member("sealedLines", report.sealedLines)
    }
}

extension JSONWriter {
    /// Adds the member `tables`, with an object for each.
    mutating func tables<Table>(_ tables: [(String, Table)], _ write: (Table, inout JSONWriter) -> Void) {
        name("tables")
        object { json in
            for (name, table) in tables {
                json.name(name)
                json.object { write(table, &$0) }
            }
        }
    }
}
