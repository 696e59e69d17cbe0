// SPDX-License-Identifier: Apache-2.0
import Foundation
import JSON

/// `store-oracle`, which writes, says what it was promised, and compares; found beside the test bundle.
package enum Oracle {
    /// Of each writer.
    package static let threads = 3
    /// Of records, each of which may be in the middle of a change.
    package static let kinds = 7
    /// A process that has not finished by then is stuck.
    package static let seconds = 180
    private static let secondsToCompare = 300

    /// No `#require` of Testing's: a release build of a program that uses this room does not find that module.
    package struct Fault: Error { package let what: String }

    package static var program: String {
        get throws {
            guard let ours = Bundle.main.executableURL else { throw Fault(what: "no path of this program") }
            return ours.deletingLastPathComponent().appending(path: "store-oracle").path
        }
    }

    /// A process that writes until it is killed.
    package struct Writer {
        package let log: String
        private let errors: String
        private let child: ChildProcess

        /// - Parameters:
        ///   - place: a folder, or the URL of a database.
        ///   - logs: the folder of the log and the complaints; they are named after the writer.
        package init(_ place: String, name: String, logs: String, _ options: [String]) throws {
            log = logs + "/" + name
            errors = log + ".errors"
            child = try ChildProcess(
                Oracle.program, ["write", place, "--name", name] + options, output: log, errors: errors)
        }

        /// - Returns: how it ended; as `ChildProcess.exitStatus`.
        @discardableResult package func kill() -> Int32? {
            child.signal(SIGKILL)
            return child.wait(seconds: Oracle.seconds)
        }

        /// The log as `verify` takes it, for a moment before which all was promised that it says now.
        package func promisedSoFar() throws -> String {
            guard let size = try FileManager.default.attributesOfItem(atPath: log)[.size] as? Int else {
                throw Fault(what: "\(log) has no size")
            }
            return "\(log)@\(size)"
        }

        /// How many writes it was promised until now.
        package var promises: Int { lines.count { $0.hasPrefix("+") } }

        package var isRunning: Bool { child.exitStatus == nil }

        package var complaints: String { text(errors) }

        /// Whether it comes to say so, that often.
        package func waits(for line: String, times: Int = 1) -> Bool {
            Deadline.poll(seconds: Oracle.seconds) { !isRunning || count(of: line) >= times } && isRunning
        }

        /// How often it has said so until now.
        package func count(of line: String) -> Int { lines.count { $0 == line } }

        private var lines: [Substring] { text(log).split(separator: "\n") }

        private func text(_ path: String) -> String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }
    }

    /// What a comparison has found.
    package struct Verdict: CustomStringConvertible {
        /// As it was printed.
        package let text: String
        package let isGood: Bool
        private let value: JSONValue

        fileprivate init(text: String, isGood: Bool) throws {
            (self.text, self.isGood) = (text, isGood)
            value = try JSONValue(parsing: Array(text.utf8))
        }

        package var description: String { text }

        package subscript(_ name: String) -> Int { value[name]?.integer ?? -1 }
    }

    /// Compares a store with what its writers told.
    /// - Parameters:
    ///   - place: a folder, or the URL of a database.
    ///   - logs: files; their names may end in `@` and an offset.
    package static func verify(_ place: String, logs: [String], _ options: [String] = []) throws -> Verdict {
        let path = NSTemporaryDirectory() + "/verdict-\(UUID().uuidString)"
        let errors = path + ".errors"
        defer { for file in [path, errors] { try? FileManager.default.removeItem(atPath: file) } }
        let child = try ChildProcess(program, ["verify", place] + options + logs, output: path, errors: errors)
        let status = child.wait(seconds: secondsToCompare)
        if status == nil { child.stop(seconds: 0) }
        let complaints = try String(contentsOfFile: errors, encoding: .utf8)
        guard status == 0 || status == 1 else { throw Fault(what: complaints) }
        let text = try String(contentsOfFile: path, encoding: .utf8).trimmingCharacters(in: .newlines)
        return try Verdict(text: text, isGood: status == 0)
    }
}
