// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Store

/// Whether the state can be kept: the folder, who may write to it, the room that is left, and what lies in it.
package struct StoreStep: Sendable {
    /// With less room than this the next large message may find none, in bytes.
    static let scarceBytes: Int64 = 256 << 20
    /// With less than this nothing can be relied on, in bytes.
    static let leastBytes: Int64 = 4 << 20
    /// A store makes some thousand files.
    static let scarceInodes: Int64 = 10_000
    static let leastInodes: Int64 = 100
    /// A message that waits for longer waits for something else than its turn, in seconds.
    static let queueSeconds: Int64 = 900

    /// Who delivers what waits in the store.
    package enum Delivery: Sendable {
        case localHub
        /// The local hub, which has nothing to deliver with.
        case nobody
        /// Another hub, which has a queue of its own.
        case elsewhere
    }

    /// As the configuration has it.
    let path: String
    let needsUsers: Bool
    let setting: SettingName
    let delivery: Delivery

    /// - Parameter needsUsers: whether `auth.method` is `users`.
    package init(path: String, needsUsers: Bool, delivery: Delivery, setting: SettingName) {
        self.path = path
        self.needsUsers = needsUsers
        self.delivery = delivery
        self.setting = setting
    }

    /// - Parameter serviceSays: what `/health` says of the store: `poisoned`; nil: it was not asked.
    package func findings(_ facts: StoreFacts, serviceSays: String?) -> [Finding] {
        guard let folder = facts.folder else { return [missing] }
        guard folder.mode & 0o007 == 0 else { return [open(folder)] }
        let trouble = judgeFolder(facts) + judgeService(serviceSays) + judgeSpace(facts)
        if let error = facts.error {
            return trouble.contains { $0.verdict == .wrong } ? trouble : trouble + [judge(error)]
        }
        let contents = judgeUsers(facts) + judgeQueue(facts) + judgeLines(facts)
        let findings = trouble + contents
        return findings.contains { $0.verdict == .wrong } ? findings : [good(facts)] + findings
    }

    /// - Parameter serviceSays: as in `findings(_:serviceSays:)`.
    package func databaseFindings(_ facts: StoreFacts, serviceSays: String?) -> [Finding] {
        if let error = facts.error { return [.wrong("\(path): \(error)", cure: databaseCure(error))] }
        var trouble: [Finding] = []
        if facts.health != .writable {
            trouble.append(
                .wrong(
                    "\(path) may be read but not written", cure: "a URL of the primary server; the rights of its role"))
        } else if let serviceSays, serviceSays != "\(StoreHealth.writable)" {
            trouble.append(
                .wrong("the service cannot write to its store", cure: "`journalctl -u app-backend`"))
        }
        let findings = trouble + judgeUsers(facts) + judgeQueue(facts)
        return findings.contains { $0.verdict == .wrong } ? findings : [good(facts)] + findings
    }

    private func databaseCure(_ error: StoreError) -> String {
        if case .notReady = error { return "`app-backend store migrate`" }
        return "\(setting("store.url")); whether the server runs, and lets this host and role in"
    }

    private var missing: Finding {
        .wrong(
            "\(path): there is no such folder, or this user may not look at it",
            cure: "start the service once, which makes it; \(setting("store.path")); StateDirectory= in the unit; run "
                + "this as root")
    }

    private func open(_ folder: FileMode) -> Finding {
        .wrong(
            "\(path) has mode \(folder.octal), so everybody may enter it, and the service does not start",
            cure: "`chmod 700 \(path)`; StateDirectoryMode=0700 in the unit")
    }

    private func judgeFolder(_ facts: StoreFacts) -> [Finding] {
        var findings: [Finding] = []
        switch facts.writeRefusal {
        case nil: break
        case EROFS?:
            findings.append(
                .wrong(
                    "\(path) lies on a file system that is mounted read-only",
                    cure: "`mount -o remount,rw` there, after `dmesg` has said why; StateDirectory= in the unit"))
        case .some:
            findings.append(
                .wrong(
                    "\(path) (mode \(facts.folder?.octal ?? "")) may not be written by its owner, or not by this user",
                    cure: "`chmod 700 \(path)`; run this as root"))
        }
        if let file = facts.strangersFile {
            findings.append(
                .wrong(
                    "\(path)/\(file) belongs to another user than the folder",
                    cure: "`chown -R --reference=\(path) \(path)`, while the service is stopped"))
        }
        return findings
    }

    private func judgeService(_ says: String?) -> [Finding] {
        guard let says, says != "\(StoreHealth.writable)" else { return [] }
        return [
            says == "\(StoreHealth.poisoned)"
                ? .wrong(
                    "the service writes no more: the disk has failed to keep something",
                    cure: "`dmesg`, the disk; then `systemctl restart app-backend`")
                : .wrong(
                    "the service cannot write to its store",
                    cure:
                        "`journalctl -u app-backend`; StateDirectory= or ReadWritePaths=\(path) in the unit; space on "
                        + "the disk")
        ]
    }

    private func judge(_ error: StoreError) -> Finding {
        switch error {
        case .unavailable, .busy: .wrong("\(path): \(error)", cure: "run this as root; \(setting("store.path"))")
        case .readOnly: .wrong("\(path) holds no store yet", cure: "start the service once, which makes it")
        default:
            .wrong("\(path): \(error)", cure: "`journalctl -u app-backend`; a copy of the store; docs/store.md")
        }
    }

    private func good(_ facts: StoreFacts) -> Finding {
        let users = facts.users.map { "\($0) user\($0 == 1 ? "" : "s")" } ?? ""
        let free = facts.freeBytes.map { ", \(Self.mebibytes($0)) MiB free" } ?? ""
        let queue = facts.queue.map { $0.count > 0 ? ", \($0.count) messages wait" : "" } ?? ""
        return .ok("\(path): \(users)\(free)\(queue)")
    }

    static func mebibytes(_ bytes: Int64) -> Int64 { bytes >> 20 }
}
