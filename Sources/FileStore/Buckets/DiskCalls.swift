// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The system calls that can lose data or cost much, replaceable so that tests can make them fail, stop half way, or be
/// counted.
package struct DiskCalls: Sendable {
    /// As write(2): bytes written, or -1 and `errno`.
    package var write: @Sendable (_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int
    /// As pread(2): bytes read, or -1 and `errno`.
    package var read: @Sendable (_ descriptor: Int32, _ bytes: UnsafeMutableRawBufferPointer, _ offset: Int) -> Int
    /// As fdatasync(2), for files: 0, or -1 and `errno`.
    package var flushFile: @Sendable (_ descriptor: Int32) -> Int32
    /// As fsync(2), for folders. Not fdatasync: a new name need not change what that call looks at.
    package var flushFolder: @Sendable (_ descriptor: Int32) -> Int32

    package init(
        write: @escaping @Sendable (Int32, UnsafeRawBufferPointer) -> Int = {
            Glibc.write($0, $1.baseAddress, $1.count)
        },
        read: @escaping @Sendable (Int32, UnsafeMutableRawBufferPointer, Int) -> Int = {
            pread($0, $1.baseAddress, $1.count, off_t($2))
        },
        flushFile: @escaping @Sendable (Int32) -> Int32 = { fdatasync($0) },
        flushFolder: @escaping @Sendable (Int32) -> Int32 = { fsync($0) }
    ) {
        self.write = write
        self.read = read
        self.flushFile = flushFile
        self.flushFolder = flushFolder
    }
}
