// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Store
import Testing

@testable import Commands

/// What is made of what was seen of a store.
struct StoreFindingsTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let verdict: Verdict
        let fix: String
        var delivery = StoreFindings.Delivery.builtInHub
        var needsUsers = true
        var serviceSays: String? = "writable"
        let change: @Sendable (inout StoreFacts) -> Void

        var testDescription: String { name }
    }

    static let rows = [
        Row(name: "no folder", verdict: .fail, fix: "store.path in /a.json") { $0.folder = nil },
        Row(name: "open", verdict: .fail, fix: "chmod 700 /store") { $0.folder?.mode = 0o701 },
        Row(name: "read-only mount", verdict: .fail, fix: "remount,rw") { $0.writeRefusal = EROFS },
        Row(name: "another's", verdict: .fail, fix: "root") { $0.writeRefusal = EACCES },
        Row(name: "full", verdict: .fail, fix: "df -h") { $0.freeBytes = 0 },
        Row(name: "nearly full", verdict: .warning, fix: "df -h") { $0.freeBytes = 100 << 20 },
        Row(name: "no inodes", verdict: .fail, fix: "df -i") { $0.freeInodes = 0 },
        Row(name: "few inodes", verdict: .warning, fix: "df -i") { $0.freeInodes = 5_000 },
        Row(name: "no limit of inodes", verdict: .ok, fix: "") { $0.freeInodes = nil },
        Row(name: "poisoned", verdict: .fail, fix: "restart", serviceSays: "poisoned") { _ in },
        Row(name: "refused to the service", verdict: .fail, fix: "ReadWritePaths=/store", serviceSays: "readOnly") {
            _ in
        },
        Row(name: "service not asked", verdict: .ok, fix: "", serviceSays: nil) { _ in },
        Row(name: "damaged", verdict: .fail, fix: "docs/operate/store.md") {
            $0.error = .damaged(detail: "store.json")
        },
        Row(name: "empty folder", verdict: .fail, fix: "start the service") { $0.error = .readOnly },
        Row(name: "no users", verdict: .fail, fix: "user add") { $0.users = 0 },
        Row(name: "no users needed", verdict: .warning, fix: "auth.method", needsUsers: false) { $0.users = 0 },
        Row(name: "a young queue", verdict: .ok, fix: "") { $0.queue = .init(count: 9, oldestSeconds: 60) },
        Row(name: "an old queue", verdict: .warning, fix: "webPush.proxy") {
            $0.queue = .init(count: 9, oldestSeconds: 901)
        },
        Row(name: "a queue without a deliverer", verdict: .warning, fix: "keys vapid", delivery: .nothing) {
            $0.queue = .init(count: 1, oldestSeconds: 0)
        },
        Row(name: "a queue of before", verdict: .ok, fix: "", delivery: .elsewhere) {
            $0.queue = .init(count: 1, oldestSeconds: 9_999)
        },
        Row(name: "broken", verdict: .warning, fix: "repair") { $0.brokenLines = ["users.jsonl:3"] },
        Row(name: "two log-ins", verdict: .warning, fix: "passwd NAME --none") {
            $0.remarks.withTwoLogIns = ["id.bob", "id.carol"]
        },
        Row(name: "an unknown role", verdict: .warning, fix: "--no-roles") {
            $0.remarks.withUnknownRole = ["bob (editor)"]
        },
        Row(name: "quarantined", verdict: .warning, fix: "put back") { $0.quarantinedLines = 2 },
    ]

    @Test func `a file of another user is found, and of a large store not every file is looked at`() throws {
        let store = FileManager.default.temporaryDirectory.appending(path: "facts-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: store) }
        for folder in ["a", "b"] {
            let path = store.appending(path: folder)
            try FileManager.default.createDirectory(at: path, withIntermediateDirectories: true)
            for file in 0..<10 { try Data().write(to: path.appending(path: "\(file).jsonl")) }
        }
        func found(atMost maximum: Int, foreign: String? = nil) -> (file: String?, looks: Int) {
            var looks = 0
            let file = StoreFacts.foreignOwnedFile(in: store.path, owner: 7, atMost: maximum) { path in
                looks += 1
                let isFolder = !path.hasSuffix(".jsonl")
                let owner: uid_t = foreign.map(path.hasSuffix) == true ? 8 : 7
                return FileMode(kind: isFolder ? S_IFDIR : S_IFREG, mode: 0o600, owner: owner)
            }
            return (file, looks)
        }
        #expect(found(atMost: 100) == (nil, 22))
        #expect(found(atMost: 100, foreign: "/b/3.jsonl").file == "b/3.jsonl")
        #expect(found(atMost: 15) == (nil, 15))
    }

    @Test func `one of a kind is counted as one`() {
        var facts = StoreFacts()
        facts.folder = FileMode(kind: S_IFDIR, mode: 0o700, owner: 0)
        (facts.users, facts.quarantinedLines, facts.brokenLines) = (1, 1, ["users.jsonl:3"])
        facts.queue = .init(count: 1, oldestSeconds: 0)
        let step = StoreFindings(
            path: "/store", needsUsers: true, delivery: .nothing, setting: SettingName(file: nil))
        let found = step.findings(facts, serviceSays: nil).map(\.found).joined(separator: "\n")
        for text in ["1 user", "1 message waits", "1 line of the store cannot", "1 line that could not be read is"] {
            #expect(found.contains(text), "\(found)")
        }
    }

    @Test(arguments: rows) func `each trouble has its verdict and its fix`(row: Row) {
        var facts = StoreFacts()
        facts.folder = FileMode(kind: S_IFDIR, mode: 0o700, owner: 0)
        facts.freeBytes = 1 << 40
        facts.freeInodes = 1 << 20
        facts.users = 2
        facts.queue = .init(count: 0, oldestSeconds: 0)
        row.change(&facts)
        let step = StoreFindings(
            path: "/store", needsUsers: row.needsUsers, delivery: row.delivery, setting: SettingName(file: "/a.json"))
        let findings = step.findings(facts, serviceSays: row.serviceSays)
        #expect(findings.map(\.verdict).max() == row.verdict)
        #expect(row.fix.isEmpty || findings.contains { $0.fix?.contains(row.fix) == true }, "\(findings)")
        #expect(findings.contains { $0.verdict == .ok } == (row.verdict != .fail))
    }
}
