// SPDX-License-Identifier: Apache-2.0
import Glibc
import Store

/// What is in a folder.
package enum FolderNames {
    /// All names but `.` and `..`, in no order; none where the folder cannot be read.
    /// - Parameter maximum: so many are read at most; a caller sets it for a folder that is not ours.
    package static func list(_ path: String, maximum: Int = .max) -> [String] {
        guard let stream = opendir(path) else { return [] }
        return read(stream, maximum: maximum)
    }

    /// All names but `.` and `..`, in no order.
    /// - Throws: `unavailable`, when the folder cannot be read.
    static func all(in path: String) throws(StoreError) -> [String] {
        guard let stream = opendir(path) else { throw StoreError(errno, "open", path, writing: false) }
        return read(stream, maximum: .max)
    }

    private static func read(_ stream: OpaquePointer, maximum: Int) -> [String] {
        defer { closedir(stream) }
        var names: [String] = []
        while names.count < maximum, let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}
