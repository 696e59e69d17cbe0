// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What lies in a folder.
package enum FolderNames {
    /// All names but `.` and `..`, in no order; none where the folder cannot be read.
    package static func list(_ path: String) -> [String] { read(path) ?? [] }

    /// As `list(_:)`; nil, and `errno`, where the folder cannot be read.
    static func read(_ path: String) -> [String]? {
        guard let stream = opendir(path) else { return nil }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}
