// SPDX-License-Identifier: Apache-2.0
import Glibc
import Store

/// Judges whether the state can be kept: the folder, who may write to it, free space, and what is in it.
struct StoreFindings: Sendable {
    /// With less space than this the next large message may find no room, in bytes.
    static let scarceBytes: Int64 = 256 << 20
    /// With less than this nothing can be relied on, in bytes.
    static let leastBytes: Int64 = 4 << 20
    /// A store makes some thousand files.
    static let scarceInodes: Int64 = 10_000
    static let leastInodes: Int64 = 100
    /// A message that waits for longer is not only queued behind others, in seconds.
    static let queueSeconds: Int64 = 900

    /// What delivers the messages that wait in the store.
    enum Delivery: Sendable {
        case builtInHub
        /// The built-in hub, which has nothing to deliver with.
        case nothing
        /// Another hub, which has a queue of its own.
        case elsewhere
    }

    /// As the configuration has it.
    let path: String
    /// Whether the store's users log in, and not the tutorial's test decides.
    let needsUsers: Bool
    /// Whose users need no record.
    var hasIssuers = false
    let delivery: Delivery
    let setting: SettingName

    /// - Parameter serviceSays: what `/health` says of the store: `poisoned`; nil: it was not asked.
    func findings(_ facts: StoreFacts, serviceSays: String?) -> [Finding] {
        guard let folder = facts.folder else {
            return [
                .fail(
                    "\(path): there is no such folder, or this user may not look at it",
                    fix:
                        "start the service once, which makes it; \(setting("store.path")); StateDirectory= in the unit; "
                        + "run this as root")
            ]
        }
        if folder.mode & 0o007 != 0 {
            return [
                .fail(
                    "\(path) has mode \(folder.octal), so every user may enter it, and the service does not start",
                    fix: "`chmod 700 \(path)`; StateDirectoryMode=0700 in the unit")
            ]
        }
        let findings = [Finding](table: folderTable(facts) + serviceTable(serviceSays) + spaceTable(facts))
        if let error = facts.error { return findings.hasFailed ? findings : findings + [judge(error)] }
        return finish(findings + [Finding](table: contentsTable(facts)), facts)
    }

    /// - Parameter serviceSays: as in `findings(_:serviceSays:)`.
    func databaseFindings(_ facts: StoreFacts, serviceSays: String?) -> [Finding] {
        if let error = facts.error { return [.fail("\(path): \(error)", fix: databaseFix(error))] }
        let isReadOnly = facts.health != .writable
        return finish(
            [Finding](
                table: [
                    fail(
                        when: isReadOnly, "\(path) may be read but not written",
                        fix: "a URL of the primary server; the rights of its role"),
                    fail(
                        when: !isReadOnly && isRefused(serviceSays), "the service cannot write to its store",
                        fix: "`journalctl -u app-backend`"),
                ] + contentsTable(facts)), facts)
    }

    private func finish(_ findings: [Finding], _ facts: StoreFacts) -> [Finding] {
        if findings.hasFailed { return findings }
        let users = facts.users.map { UserCommand.counted($0, "user", "users") } ?? ""
        let free = facts.freeBytes.map { ", \($0 >> 20) MiB free" } ?? ""
        let queue = facts.queue.map { $0.count > 0 ? ", \(Self.waiting($0))" : "" } ?? ""
        return [.ok("\(path): \(users)\(free)\(queue)")] + findings
    }

    private func folderTable(_ facts: StoreFacts) -> [Finding?] {
        [
            fail(
                when: facts.writeRefusal == EROFS, "\(path) is on a file system that is mounted read-only",
                fix: "`mount -o remount,rw` there, after `dmesg` has said why; StateDirectory= in the unit"),
            fail(
                when: facts.writeRefusal != nil && facts.writeRefusal != EROFS,
                "\(path) (mode \(facts.folder?.octal ?? "")) may not be written by its owner, or not by this user",
                fix: "`chmod 700 \(path)`; run this as root"),
            fail(
                when: facts.foreignOwnedFile != nil,
                "\(path)/\(facts.foreignOwnedFile ?? "") belongs to another user than the folder",
                fix: "`chown -R --reference=\(path) \(path)`, while the service is stopped"),
        ]
    }

    private func serviceTable(_ says: String?) -> [Finding?] {
        let isPoisoned = says == "\(StoreHealth.poisoned)"
        return [
            fail(
                when: isPoisoned, "the service writes no more: the disk has failed to keep something",
                fix: "`dmesg`, the disk; then `systemctl restart app-backend`"),
            fail(
                when: isRefused(says) && !isPoisoned, "the service cannot write to its store",
                fix:
                    "`journalctl -u app-backend`; StateDirectory= or ReadWritePaths=\(path) in the unit; space on the disk"
            ),
        ]
    }

    private func isRefused(_ says: String?) -> Bool { says.map { $0 != "\(StoreHealth.writable)" } ?? false }

    private func spaceTable(_ facts: StoreFacts) -> [Finding?] {
        let bytes = facts.freeBytes ?? .max
        let inodes = facts.freeInodes ?? .max
        let space = "only \(bytes >> 20) MiB are free on the file system of \(path)"
        let spaceFix = "make room on that file system: `df -h \(path)`"
        let files = "only \(inodes) files can still be made on the file system of \(path)"
        let filesFix = "remove files from that file system: `df -i \(path)`"
        return [
            fail(when: bytes < Self.leastBytes, space, fix: spaceFix),
            warn(when: (Self.leastBytes..<Self.scarceBytes).contains(bytes), space, fix: spaceFix),
            fail(when: inodes < Self.leastInodes, files, fix: filesFix),
            warn(when: (Self.leastInodes..<Self.scarceInodes).contains(inodes), files, fix: filesFix),
        ]
    }

    private func contentsTable(_ facts: StoreFacts) -> [Finding?] {
        let age = facts.queue?.oldestSeconds ?? 0
        let hasQueue = delivery != .elsewhere && facts.queue?.count ?? 0 > 0
        let queue = "\(facts.queue.map(Self.waiting) ?? "") to be delivered, the oldest for \(Self.span(age))"
        let broken = UserCommand.counted(
            facts.brokenLines.count, "line of the store cannot be read and counts as absent",
            "lines of the store cannot be read and count as absent")
        return [
            warn(
                when: !needsUsers, "auth.method is test: a user's name as password lets anyone in as that user",
                fix: "\(setting("auth.method")): users"),
            fail(
                when: needsUsers && !hasIssuers && facts.users == 0, "there are no users, so no user can log in",
                fix: "`app-backend user add NAME`"),
            warn(
                when: hasQueue && delivery == .nothing, "\(queue), and nothing delivers them",
                fix: "`app-backend keys vapid`, or a group apns, fcm or wns; the line `push`"),
            warn(
                when: hasQueue && delivery == .builtInHub && age > Self.queueSeconds, queue,
                fix: "`journalctl -u app-backend`: which push service does not answer; webPush.proxy, a firewall"),
            warn(
                when: !facts.brokenLines.isEmpty,
                "\(broken); \(path)/\(facts.brokenLines.first ?? "") first",
                fix: "repair the line while the service is stopped, or leave it: the service moves it into quarantine/"),
            warn(
                when: facts.quarantinedLines > 0,
                UserCommand.counted(
                    facts.quarantinedLines, "line that could not be read is", "lines that could not be read are")
                    + " in \(path)/quarantine",
                fix: "look at them, put back what counts while the service is stopped, and remove the files"),
        ] + facts.remarks.rows.map { .warning($0.found, fix: $0.fix) }
    }

    private func judge(_ error: StoreError) -> Finding {
        switch error {
        case .unavailable, .busy: .fail("\(path): \(error)", fix: "run this as root; \(setting("store.path"))")
        case .readOnly: .fail("\(path) holds no store yet", fix: "start the service once, which makes it")
        default:
            .fail("\(path): \(error)", fix: "`journalctl -u app-backend`; a copy of the store; docs/operate/store.md")
        }
    }

    private func databaseFix(_ error: StoreError) -> String {
        if case .notReady = error { return "`app-backend store migrate`" }
        return "\(setting("store.url")); whether the server runs, and lets this host and role in"
    }

    private static func waiting(_ queue: StoreFacts.Queue) -> String {
        UserCommand.counted(queue.count, "message waits", "messages wait")
    }

    private static func span(_ seconds: Int64) -> String {
        seconds < 120 ? "\(seconds) s" : seconds < 7200 ? "\(seconds / 60) minutes" : "\(seconds / 3600) hours"
    }
}
