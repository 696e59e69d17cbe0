// SPDX-License-Identifier: Apache-2.0
import FileStore
import Foundation
import Support

extension Oracle {
    /// So small that files are split and compacted all the time.
    static let smallBuckets = ["--bucket-bytes", "3000"]

    static func verify(_ folder: TemporaryFolder, logs: [String]) throws -> Verdict {
        try verify(folder.path, logs: logs, smallBuckets)
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
}

extension Oracle.Writer {
    init(_ folder: TemporaryFolder, name: String, log: TemporaryFolder, _ options: [String]) throws {
        try self.init(folder.path, name: name, log: log, options)
    }

    init(_ folder: String, name: String, log: TemporaryFolder, _ options: [String]) throws {
        try self.init(folder, name: name, logs: log.path, Oracle.smallBuckets + options)
    }
}
