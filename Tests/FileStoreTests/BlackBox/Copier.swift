// SPDX-License-Identifier: Apache-2.0
import Foundation
import Support
import Testing

/// The programs that administrators copy folders with, told what docs/operate/backup-and-restore.md tells them.
enum Copier: String, CaseIterable, Sendable {
    case cp, rsync, tar

    struct NotEnded: Error { let program: String }

    /// Tries that a copy may take: each program says when a file escaped it, and is then run again.
    private static let tries = 40

    var program: String? {
        ["/usr/bin/", "/bin/"].map { $0 + rawValue }.first { access($0, X_OK) == 0 }
    }

    /// Copies what is in the one folder into the other, which is empty.
    func copy(_ source: String, to target: String) throws {
        for _ in 1...Self.tries where try run(source, target) { return }
        Issue.record("\(rawValue) never had a copy without a gap")
    }

    /// - Returns: false, when a file of the store escaped it.
    private func run(_ source: String, _ target: String) throws -> Bool {
        switch self {
        case .cp: return try call(["-a", source + "/.", target]).escaped.isEmpty
        case .rsync:
            return try call(["-a", "--exclude=*.tmp", "--exclude=/lock/", source + "/", target]).escaped.isEmpty
        case .tar:
            let archive = target + ".tar"
            defer { try? FileManager.default.removeItem(atPath: archive) }
            let options = ["--exclude=*.tmp", "--exclude=./lock"]
            let made = try call(["-cf", archive, "-C", source] + options + ["."])
            try #require(made.status < 2)
            guard made.escaped.isEmpty else { return false }
            return try call(["-xpf", archive, "-C", target]).status == 0
        }
    }

    /// - Returns: the exit status, and the complaints that are about a file of the store. Names that end in `.tmp` are
    ///   there for a moment only, and that a file grew while it was read says nothing.
    private func call(_ arguments: [String]) throws -> (status: Int32, escaped: [Substring]) {
        let errors = NSTemporaryDirectory() + "/copier-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: errors) }
        let child = try ChildProcess(try #require(program), arguments, errors: errors)
        guard let status = child.wait(seconds: 120) else {
            child.stop(seconds: 0)
            throw NotEnded(program: rawValue)
        }
        let complaints = try String(contentsOfFile: errors, encoding: .utf8).split(separator: "\n")
        let escaped = complaints.filter {
            ($0.contains(".jsonl") || $0.contains("/store.json")) && !$0.contains(".tmp")
                && !$0.contains("file changed as we read it")
        }
        return (status, escaped)
    }
}
