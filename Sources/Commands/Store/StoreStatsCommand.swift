// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import JSON
import Server
import Store

/// `app-backend store stats`
struct StoreStatsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats", abstract: "Count what the store holds, table by table.",
        discussion: """
            Reads every line and changes nothing. It names tables and files, never what they hold. `records` are those \
            that count, `ops` lines that change or remove what an earlier one says; what was superseded or has expired \
            goes with the next compaction.
            """)

    @OptionGroup var options: ReadingOptions
    @Flag(help: "Print one JSON object.") var json = false

    func run() throws {
        let store = try options.open()
        var progress = Progress()
        var files = 0
        let statistics = try store.statistics(now: Site.now()) { table in
            files += 1
            progress.tell("counted \(files) files, is at \(table)")
        }
        print(json ? Self.json(statistics) : Self.lines(statistics))
    }

    // MARK: For people

    private static let heads = [
        "table", "files", "bytes", "lines", "records", "expired", "ops", "broken", "quarantined", "inodes", "oldest",
        "newest",
    ]

    private static func lines(_ statistics: StoreStatistics) -> String {
        let rows = statistics.tables.map(row)
        var lines = Columns.lines([heads] + rows, textColumns: [0, 10, 11])
        if let largest = statistics.tables.compactMap(\.largest).max(by: { $0.bytes < $1.bytes }) {
            lines.append("largest file: \(largest.name), \(largest.bytes) bytes")
        }
        lines.append("in all: \(statistics.records) records, \(statistics.bytes) bytes, \(statistics.inodes) inodes")
        return lines.joined(separator: "\n")
    }

    private static func row(_ table: TableStatistics) -> [String] {
        let numbers = [
            table.files, table.bytes, table.lines, table.records, table.expired, table.opLines, table.brokenLines,
            table.quarantinedLines, table.inodes,
        ]
        return [table.name] + numbers.map(String.init) + [table.oldest?.text ?? "-", table.newest?.text ?? "-"]
    }

    // MARK: For scripts

    private static func json(_ statistics: StoreStatistics) -> String {
        var json = JSONWriter()
        json.object { json in
            json.tables(statistics.tables.map { ($0.name, $0) }, write)
            json.member("records", statistics.records)
            json.member("bytes", statistics.bytes)
            json.member("inodes", statistics.inodes)
        }
        return String(decoding: json.bytes, as: UTF8.self)
    }

    private static func write(_ table: TableStatistics, to json: inout JSONWriter) {
        json.member("files", table.files)
        json.member("bytes", table.bytes)
        json.member("lines", table.lines)
        json.member("records", table.records)
        json.member("expired", table.expired)
        json.member("opLines", table.opLines)
        json.member("brokenLines", table.brokenLines)
        json.member("quarantinedLines", table.quarantinedLines)
        json.member("inodes", table.inodes)
        if let largest = table.largest {
            json.name("largest")
            json.object {
                $0.member("file", largest.name)
                $0.member("bytes", largest.bytes)
            }
        }
        if let oldest = table.oldest { json.member("oldest", oldest.text) }
        if let newest = table.newest { json.member("newest", newest.text) }
    }
}
