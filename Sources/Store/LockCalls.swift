// SPDX-License-Identifier: Apache-2.0
import CPlatform
import Glibc

/// The system calls that tell what locks are worth, replaceable so that tests can stand for other file systems.
package struct LockCalls: Sendable {
    /// As statfs(2): the magic number of the file system that holds the path, or -1 and `errno`.
    package var fileSystemType: @Sendable (_ path: String) -> Int
    /// As fcntl(2) with F_OFD_SETLK for one byte of the file: 0, or -1 and `errno`.
    package var lockByte: @Sendable (_ descriptor: Int32, _ type: Int16, _ byte: off_t) -> Int32

    package init(
        fileSystemType: @escaping @Sendable (String) -> Int = { platform_file_system_type($0) },
        lockByte: @escaping @Sendable (Int32, Int16, off_t) -> Int32 = { platform_ofd_lock_byte($0, $1, $2) }
    ) {
        self.fileSystemType = fileSystemType
        self.lockByte = lockByte
    }
}
