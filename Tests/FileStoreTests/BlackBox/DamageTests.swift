// SPDX-License-Identifier: Apache-2.0
import FileStore
import Foundation
import Store
import Support
import Testing

/// One line of one table, hurt in every way that hands and disks have: it costs at most that line.
@Suite struct DamageTests {
    private static let tables = [
        "users.jsonl", "notifications", "devices", "owners", "sessions", "session-owners", "hub/registrations",
        "hub/channels", "hub/tags", "hub/queue.jsonl",
    ]

    private static let indexes: Set = ["owners", "session-owners", "hub/channels", "hub/tags"]

    /// What is done to a file whose lines are given.
    enum Damage: String, CaseIterable {
        /// A quotation mark is gone.
        case broken
        /// A loss of power in the middle of a write: the length is there, the bytes are not.
        case zeros
        /// The file ends in the middle of its last line.
        case halfWritten
        /// Two lines have become one.
        case joined
        /// Blanks, as an editor or a formatter leaves them; the line counts.
        case edited

        fileprivate func hurt(_ lines: [String], at index: Int) -> String {
            var lines = lines
            let line = lines[index]
            switch self {
            case .broken:
                lines[index] = line.replacingCharacters(
                    in: line.range(of: "\"", options: .backwards) ?? line.startIndex..<line.startIndex, with: "")
            case .zeros: lines[index] = line.prefix(8) + String(repeating: "\0", count: max(0, line.count - 8))
            case .halfWritten:
                return lines.dropLast().map { $0 + "\n" }.joined() + (lines.last.map { $0.prefix($0.count / 2) } ?? "")
            case .joined: return lines.enumerated().map { $1 + ($0 == index ? "" : "\n") }.joined()
            case .edited: lines[index] = line.replacingOccurrences(of: "\":", with: "\" : ")
            }
            return lines.map { $0 + "\n" }.joined()
        }

        /// Lines that may be lost.
        fileprivate var cost: Int {
            switch self {
            case .edited: 0
            case .joined: 2
            default: 1
            }
        }
    }

    @Test(arguments: tables)
    func `a damaged line costs itself alone, and the file is written on`(table: String) throws {
        let folder = try TemporaryFolder()
        let settled = try SettledRecords(folder.open())
        for damage in Damage.allCases {
            let copy = try folder.copy()
            let store = try copy.open()
            let files = table.hasSuffix(".jsonl") ? [table] : try copy.files(under: table)
            var random = SeededRandom(seed: 11)
            for file in files.shuffled(using: &random).prefix(2) {
                let lines = try copy.text(file).split(separator: "\n").map(String.init)
                try copy.write(damage.hurt(lines, at: .random(in: 0..<lines.count, using: &random)), to: file)
            }
            try expectCost(of: damage, to: table, settled, store)
        }
    }

    private func expectCost(
        of damage: Damage, to table: String, _ settled: SettledRecords, _ store: FileSiteStore
    ) throws {
        let hurt = Self.records(in: try settled.faults(in: store, endingSessions: false))
        #expect(hurt.count <= 2 * damage.cost, "\(damage): \(hurt)")
        try writeOn(store)
        #expect(try store.verify(now: noon).faultyLines <= 2 * damage.cost)
        guard Self.indexes.contains(table) else { return }
        // What an index has lost comes back.
        try store.reindex(now: noon)
        let left = Self.records(in: try settled.faults(in: store, endingSessions: false))
        #expect(left.filter { $0.hasPrefix("settled") } == [], "\(damage)")
    }

    /// The records that faults are about: one may be missing in several places.
    private static func records(in faults: [String]) -> Set<Substring> {
        Set(faults.compactMap { $0.firstMatch(of: /(settled|removed)[- ][0-9]+/)?.output.0 })
    }

    private func writeOn(_ store: FileSiteStore) throws {
        for index in 0..<6 {
            let made = try store.createNotification(
                owner: "owner-\(index)", payload: "more", now: noon, expiresAt: nextDay)
            #expect(try store.notification(made.id, owner: made.owner, now: noon) == made)
        }
        _ = try store.putUser(User(name: "more", passwordHash: "x"))
        #expect(try store.user("more")?.version == 1)
        let message = HubMessage(id: "more", document: .null, createdAt: noon, expiresAt: nextDay)
        try store.enqueueHubMessage(message)
        #expect(try store.queuedHubMessage("more") == message)
    }

    /// With buckets so large that nothing is compacted or split by what a comparison writes: each file that is hurt is the
    /// one that is put back.
    private func verify(_ folder: TemporaryFolder, _ writer: Oracle.Writer) throws -> Oracle.Verdict {
        try Oracle.verify(folder.path, logs: [writer.log])
    }

    @Test func `what compares stores sees what is missing, torn, or in no index`() throws {
        let (folder, log) = (try TemporaryFolder(), try TemporaryFolder())
        let writer = try Oracle.Writer(folder, name: "w", log: log, [])
        try #require(writer.waits(for: "# begun", times: Oracle.threads))
        writer.kill()
        #expect(try verify(folder, writer).isGood)

        // All of them: one alone may hold nothing that was acknowledged.
        let notes = try folder.files(under: "notifications").map { (file: $0, text: try folder.text($0)) }
        for note in notes { try folder.write("", to: note.file) }
        let emptied = try verify(folder, writer)
        #expect(!emptied.isGood && emptied["lost"] > 0 && emptied["torn"] == 0)

        // Half of one payload and half of another, under a checksum that does not match.
        for note in notes {
            try folder.write(note.text.replacing(#/"payload":"w-/#, with: #""payload":"other w-"#), to: note.file)
        }
        let mixed = try verify(folder, writer)
        #expect(!mixed.isGood && mixed["torn"] > 0)

        for note in notes { try folder.write(note.text, to: note.file) }
        #expect(try verify(folder, writer).isGood)
        for file in try folder.files(under: "hub/tags") { try folder.write("", to: file) }
        let unlisted = try verify(folder, writer)
        #expect(!unlisted.isGood && unlisted["wrong"] > 0 && unlisted["lost"] == 0)
    }
}
