// SPDX-License-Identifier: Apache-2.0
import Foundation
import JSON
import Processes
import Testing

/// `store-oracle`, which writes, says what it was promised, and compares; found beside the test bundle.
enum Oracle {
    /// Of each writer.
    static let threads = 3
    /// Of records, each of which may be in the middle of a change.
    static let kinds = 7
    /// So small that files are split and compacted all the time.
    static let bucketBytes = "3000"
    private static let seconds = 20

    private static var program: String {
        get throws {
            try #require(Bundle.main.executableURL).deletingLastPathComponent().appending(path: "store-oracle").path
        }
    }

    /// A process that writes until it is killed.
    struct Writer {
        let log: String
        private let errors: String
        private let child: ChildProcess

        init(_ folder: TemporaryFolder, name: String, log: TemporaryFolder, _ options: [String]) throws {
            try self.init(folder.path, name: name, log: log, options)
        }

        init(_ folder: String, name: String, log: TemporaryFolder, _ options: [String]) throws {
            self.log = log.path + "/" + name
            errors = self.log + ".errors"
            child = try ChildProcess(
                Oracle.program,
                ["write", folder, "--name", name, "--bucket-bytes", Oracle.bucketBytes] + options, output: self.log,
                errors: errors)
        }

        /// - Returns: how it ended; as `ChildProcess.exitStatus`.
        @discardableResult func kill() -> Int32? {
            child.signal(SIGKILL)
            return child.wait(seconds: Oracle.seconds)
        }

        /// The log as `verify` takes it, for a moment before which all was promised that it says now.
        func promisedSoFar() throws -> String {
            let size = try FileManager.default.attributesOfItem(atPath: log)[.size] as? Int
            return "\(log)@\(try #require(size))"
        }

        var isRunning: Bool { child.exitStatus == nil }

        var complaints: String { text(errors) }

        /// Whether it comes to say so, that often.
        func waits(for line: String, times: Int = 1) -> Bool {
            Deadline.poll(seconds: Oracle.seconds) {
                !isRunning || text(log).split(separator: "\n").count { $0 == line } >= times
            } && isRunning
        }

        private func text(_ path: String) -> String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }
    }

    /// A process that has stopped itself with a lock in its hand.
    struct Frozen {
        private let child: ChildProcess

        init(_ folder: TemporaryFolder, owner: String) throws {
            child = try ChildProcess(Oracle.program, ["freeze", folder.path, owner])
        }

        var isStopped: Bool {
            Deadline.poll(seconds: Oracle.seconds) {
                let status = try? String(contentsOfFile: "/proc/\(child.id)/stat", encoding: .utf8)
                return status?.split(separator: ")").last?.hasPrefix(" T") ?? false
            }
        }

        var hasEnded: Bool { child.wait(seconds: Oracle.seconds) != nil }

        func signal(_ number: Int32) { child.signal(number) }

        func end() {
            child.signal(SIGKILL)
            _ = hasEnded
        }
    }

    /// What a comparison has found.
    struct Verdict: CustomStringConvertible {
        /// As it was printed, complaints included.
        let text: String
        let isGood: Bool
        private let value: JSONValue

        fileprivate init(text: String, isGood: Bool) throws {
            (self.text, self.isGood) = (text, isGood)
            value = try JSONValue(parsing: Array(text.utf8))
        }

        var description: String { text }

        subscript(_ name: String) -> Int { value[name]?.integer ?? -1 }
    }

    static func verify(_ folder: TemporaryFolder, logs: [String], _ options: [String] = []) throws -> Verdict {
        try verify(folder.path, logs: logs, options)
    }

    /// Compares a store with what its writers told. Names of logs may end in `@` and an offset.
    static func verify(_ folder: String, logs: [String], _ options: [String] = []) throws -> Verdict {
        let output = try TemporaryFolder()
        let path = output.path + "/verdict"
        let child = try ChildProcess(
            program, ["verify", folder, "--bucket-bytes", bucketBytes] + options + logs, output: path,
            errors: path + ".errors")
        let status = child.wait(seconds: 60)
        if status == nil { child.stop(seconds: 0) }
        let complaints = try output.text("verdict.errors")
        try #require(status == 0 || status == 1, "\(complaints)")
        let text = try output.text("verdict").trimmingCharacters(in: .newlines)
        return try Verdict(text: text, isGood: status == 0)
    }
}
