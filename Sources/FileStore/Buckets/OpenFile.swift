// SPDX-License-Identifier: Apache-2.0
import CPlatform
import Glibc
import Store
import System

/// What tells one state of a file from another: an append changes the size, a replacement the inode, an editor at
/// least the times.
struct FileIdentity: Equatable, Sendable {
    let device: UInt64
    let inode: UInt64
    let size: Int
    private let modified: Moment
    private let changed: Moment

    private struct Moment: Equatable {
        let seconds: Int
        let nanoseconds: Int

        init(_ time: timespec) {
            (seconds, nanoseconds) = (time.tv_sec, time.tv_nsec)
        }
    }

    init(_ status: stat) {
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        size = Int(status.st_size)
        modified = Moment(status.st_mtim)
        changed = Moment(status.st_ctim)
    }

    /// What is at that path, absolute or relative to the working directory; nil when it cannot be seen.
    init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// Now, in nanoseconds since 1970, on the clock that files get their times from.
    static var clock: Int {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return now.tv_sec &* 1_000_000_000 &+ now.tv_nsec
    }

    /// The time of the last change of any kind, in nanoseconds since 1970.
    var changedAt: Int { changed.seconds &* 1_000_000_000 &+ changed.nanoseconds }
}

/// An open file of the store; closed when it is released.
final class OpenFile: Sendable {
    let number: Int32
    /// Relative to the store's folder, for messages.
    let name: String
    private let context: StoreContext

    private init(number: Int32, name: String, context: StoreContext) {
        self.number = number
        self.name = name
        self.context = context
    }

    deinit {
        close(number)
    }

    /// open(2), close-on-exec; nil when there is no such file.
    static func openIfPresent(
        _ context: StoreContext, _ name: String, _ flags: Int32
    ) throws(StoreError) -> OpenFile? {
        while true {
            // A pipe in the place of a file must not stop us; to files the flag says nothing.
            let number = platform_open(context.path + "/" + name, flags | O_CLOEXEC | O_NONBLOCK, 0o600)
            if number >= 0 { return OpenFile(number: number, name: name, context: context) }
            if errno == ENOENT { return nil }
            if errno == EINTR { continue }
            guard flags & O_ACCMODE == O_RDONLY else { throw context.writeFailure(errno, "open", name) }
            throw StoreError(errno, "open", name, writing: false)
        }
    }

    /// - Throws: also when there is no such file.
    static func open(_ context: StoreContext, _ name: String, _ flags: Int32) throws(StoreError) -> OpenFile {
        guard let file = try openIfPresent(context, name, flags) else {
            throw StoreError(ENOENT, "open", name, writing: false)
        }
        return file
    }

    func identity() throws(StoreError) -> FileIdentity {
        var status = stat()
        guard fstat(number, &status) == 0 else { throw StoreError(errno, "fstat", name, writing: false) }
        return FileIdentity(status)
    }

    /// `count` bytes from that offset on; fewer when the file is shorter.
    func read(_ count: Int, from offset: Int = 0) throws(StoreError) -> [UInt8] {
        guard count > 0 else { return [] }
        var failure: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let rest = UnsafeMutableRawBufferPointer(
                    rebasing: UnsafeMutableRawBufferPointer(buffer)[filled..<count])
                let got = context.options.calls.read(number, rest, offset + filled)
                if got < 0, errno == EINTR { continue }
                if got < 0 { failure = errno }
                if got <= 0 { return }
                filled += got
            }
        }
        guard failure == 0 else { throw StoreError(failure, "read", name, writing: false) }
        return bytes
    }

    func byte(at offset: Int) throws(StoreError) -> UInt8? {
        var byte: UInt8 = 0
        let got = pread(number, &byte, 1, off_t(offset))
        guard got >= 0 else { throw StoreError(errno, "read", name, writing: false) }
        return got == 1 ? byte : nil
    }

    /// Writes all of the bytes where the descriptor stands. What was written of them when it throws is still there.
    func write(_ bytes: [UInt8]) throws(StoreError) {
        let failure: Int32 = bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let written = context.options.calls.write(number, UnsafeRawBufferPointer(rebasing: rest))
                if written < 0, errno == EINTR { continue }
                if written < 0 { return errno }
                rest = rest.dropFirst(written)
            }
            return 0
        }
        guard failure == 0 else { throw context.writeFailure(failure, "write", name) }
        context.noteWritten()
    }

    /// Has the disk begin with what was written, without waiting, so that the flushes of several files take little more
    /// time than that of one. It promises nothing, and what fails of it fails the flush.
    func startWriting() {
        _ = platform_start_writing(number)
    }

    /// Cuts the file back. Reports whether it worked; where it did not, the next writer ends what is left.
    func truncate(to size: Int) -> Bool {
        ftruncate(number, off_t(size)) == 0
    }
}

extension StoreError {
    /// What a failed system call means to the caller.
    init(_ code: Int32, _ call: String, _ file: String, writing: Bool) {
        switch code {
        case ENOSPC, EDQUOT: self = .full
        case EROFS: self = .readOnly
        case EACCES where writing, EPERM where writing: self = .readOnly
        default: self = .unavailable(detail: "\(call) \(file): \(systemErrorText(code))")
        }
    }
}

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
