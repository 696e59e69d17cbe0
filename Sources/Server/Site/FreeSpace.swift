// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What is free on a file system, for users who are not root.
package struct FreeSpace: Equatable, Sendable {
    /// In bytes.
    package let bytes: Int64
    /// How many files can still be made; `nil` if the file system has no such limit.
    package let inodes: Int64?

    /// - Parameter path: a folder of the file system.
    /// - Returns: `nil` if the folder may not be looked at.
    package init?(path: String) {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        let blocks = Int64(clamping: status.f_bavail)
        let (product, isTooLarge) = blocks.multipliedReportingOverflow(by: Int64(clamping: status.f_frsize))
        bytes = isTooLarge ? .max : product
        inodes = status.f_files == 0 ? nil : Int64(clamping: status.f_favail)
    }
}
