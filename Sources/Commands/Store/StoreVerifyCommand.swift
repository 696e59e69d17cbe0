// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FileStore
import JSON
import Server
import Store

/// `app-backend store verify`
struct StoreVerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Read every line of the store and say what is wrong.",
        discussion: """
            Exits 0 when the store is whole, 1 when something is wrong. Changes nothing; standard error says how far it \
            has come. What is found is named by file and line, never by what it holds.
            """)

    @OptionGroup var options: ConfigurationOptions
    @Option(help: ArgumentHelp("Another folder than that of the configuration: a backup.", valueName: "path"))
    var folder: String?
    @Flag(help: "Print one JSON object.") var json = false

    func run() throws {
        let store = try StoreCommand.openForReading(try folder ?? StoreCommand.folder(options))
        var progress = Progress()
        let report = try store.verify(now: Site.now()) { progress.tell("has read \($0)") }
        if json { printJSON(report) } else { printLines(report) }
        if !report.isWhole { throw ExitCode(1) }
    }

    private func printLines(_ report: StoreReport) {
        for fault in report.faults { print("\(fault.file):\(fault.line): \(fault.reason)") }
        for (index, count) in report.missingIndexLines.sorted(by: { $0.key < $1.key }) {
            let missing = UserCommand.counted(
                count, "line is missing: its record is not found by it",
                "lines are missing: their records are not found by it")
            print("\(index): \(missing)")
        }
        if report.isUnopenedCopy {
            print("It is a copy, or an older store, and was not opened yet. Opening it adds what its indexes lack.")
        } else if !report.missingIndexLines.isEmpty {
            print("Remove indexed.json from the folder and restart the service: it adds what is missing.")
        }
        if report.cutLines > 0 {
            let cut = UserCommand.counted(
                report.cutLines, "line ends in its middle: its write was never acknowledged",
                "lines end in their middle: their writes were never acknowledged")
            print(cut)
        }
        if report.editedLines > 0 {
            let edited = UserCommand.counted(
                report.editedLines, "line was edited by hand, and counts", "lines were edited by hand, and count")
            print(edited)
        }
        print("\(verdict(report)): \(UserCommand.counted(report.lines, "line", "lines")).")
    }

    private func verdict(_ report: StoreReport) -> String {
        if report.isWhole { return "The store is whole" }
        guard report.faultyLines > 0 else { return "No line of the store is lost, but its indexes are not whole" }
        return "The store is not whole, " + UserCommand.counted(report.faultyLines, "line is lost", "lines are lost")
    }

    private func printJSON(_ report: StoreReport) {
        let json = JSONWriter.object {
            $0.member("whole", report.isWhole)
            $0.member("unopenedCopy", report.isUnopenedCopy)
            $0.member("lines", report.lines)
            $0.member("faultyLines", report.faultyLines)
            $0.member("cutLines", report.cutLines)
            $0.member("editedLines", report.editedLines)
            $0.member("missingIndexLines") { $0.members(report.missingIndexLines) }
            $0.member("faults", report.faults) { fault, json in
                json.member("file", fault.file)
                json.member("line", fault.line)
                json.member("reason", fault.reason)
            }
        }
        print(json.text)
    }
}
