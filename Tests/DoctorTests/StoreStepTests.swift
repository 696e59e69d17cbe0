// SPDX-License-Identifier: Apache-2.0
import Glibc
import Store
import Testing

@testable import Doctor

/// What is made of what was seen of a store.
struct StoreStepTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let verdict: Verdict
        let cure: String
        var delivery = StoreStep.Delivery.localHub
        var needsUsers = true
        var serviceSays: String? = "writable"
        let change: @Sendable (inout StoreFacts) -> Void

        var testDescription: String { name }
    }

    static let rows = [
        Row(name: "no folder", verdict: .wrong, cure: "store.path in /a.json") { $0.folder = nil },
        Row(name: "open", verdict: .wrong, cure: "chmod 700 /store") { $0.folder?.mode = 0o701 },
        Row(name: "read-only mount", verdict: .wrong, cure: "remount,rw") { $0.writeRefusal = EROFS },
        Row(name: "another's", verdict: .wrong, cure: "root") { $0.writeRefusal = EACCES },
        Row(name: "full", verdict: .wrong, cure: "df -h") { $0.freeBytes = 0 },
        Row(name: "nearly full", verdict: .warning, cure: "df -h") { $0.freeBytes = 100 << 20 },
        Row(name: "no inodes", verdict: .wrong, cure: "df -i") { $0.freeInodes = 0 },
        Row(name: "few inodes", verdict: .warning, cure: "df -i") { $0.freeInodes = 5_000 },
        Row(name: "no limit of inodes", verdict: .ok, cure: "") { $0.freeInodes = nil },
        Row(name: "poisoned", verdict: .wrong, cure: "restart", serviceSays: "poisoned") { _ in },
        Row(name: "refused to the service", verdict: .wrong, cure: "ReadWritePaths=/store", serviceSays: "readOnly") {
            _ in
        },
        Row(name: "service not asked", verdict: .ok, cure: "", serviceSays: nil) { _ in },
        Row(name: "damaged", verdict: .wrong, cure: "docs/store.md") { $0.error = .damaged(detail: "store.json") },
        Row(name: "empty folder", verdict: .wrong, cure: "start the service") { $0.error = .readOnly },
        Row(name: "no users", verdict: .wrong, cure: "user add") { $0.users = 0 },
        Row(name: "no users needed", verdict: .warning, cure: "auth.method", needsUsers: false) { $0.users = 0 },
        Row(name: "a young queue", verdict: .ok, cure: "") { $0.queue = .init(count: 9, oldestSeconds: 60) },
        Row(name: "an old queue", verdict: .warning, cure: "webPush.proxy") {
            $0.queue = .init(count: 9, oldestSeconds: 901)
        },
        Row(name: "a queue for nobody", verdict: .warning, cure: "keys vapid", delivery: .nobody) {
            $0.queue = .init(count: 1, oldestSeconds: 0)
        },
        Row(name: "a queue of before", verdict: .ok, cure: "", delivery: .elsewhere) {
            $0.queue = .init(count: 1, oldestSeconds: 9_999)
        },
        Row(name: "broken", verdict: .warning, cure: "mend") { $0.brokenLines = ["users.jsonl:3"] },
        Row(name: "quarantined", verdict: .warning, cure: "put back") { $0.quarantinedLines = 2 },
    ]

    @Test(arguments: rows) func `each trouble has its verdict and its cure`(row: Row) {
        var facts = StoreFacts()
        facts.folder = FileMode(kind: S_IFDIR, mode: 0o700, owner: 0, group: 0)
        facts.freeBytes = 1 << 40
        facts.freeInodes = 1 << 20
        facts.users = 2
        facts.queue = .init(count: 0, oldestSeconds: 0)
        row.change(&facts)
        let step = StoreStep(
            path: "/store", needsUsers: row.needsUsers, delivery: row.delivery, setting: SettingName(file: "/a.json"))
        let findings = step.findings(facts, serviceSays: row.serviceSays)
        #expect(findings.map(\.verdict).max() == row.verdict)
        #expect(row.cure.isEmpty || findings.contains { $0.cure?.contains(row.cure) == true }, "\(findings)")
        #expect(findings.contains { $0.verdict == .ok } == (row.verdict != .wrong))
    }
}
