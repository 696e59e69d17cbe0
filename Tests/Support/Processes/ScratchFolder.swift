// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// A folder of one fixture's own, removed with all that is in it.
package final class ScratchFolder: Sendable {
    package let path: String

    package struct NotMade: Error {
        package let code: Int32

        package init(code: Int32) {
            self.code = code
        }
    }

    /// In `/tmp`, whatever `TMPDIR` says: the path of a unix socket has 107 bytes.
    package init() throws {
        var template = Array("/tmp/wire-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw NotMade(code: errno) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The path of a file or folder in it.
    package func path(_ name: String) -> String { "\(path)/\(name)" }

    /// Whether there is such a file or folder in it.
    package func has(_ name: String) -> Bool { access(path(name), F_OK) == 0 }

    /// Writes a file that only this user may read.
    /// - Returns: its path.
    @discardableResult package func write(_ text: String, to name: String) throws -> String {
        try Data(text.utf8).write(to: URL(filePath: path(name)))
        chmod(path(name), 0o600)
        return path(name)
    }

    package func makeFolder(_ name: String) throws -> String {
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
        try FileManager.default.createDirectory(
            atPath: path(name), withIntermediateDirectories: true, attributes: attributes)
        return path(name)
    }
}
