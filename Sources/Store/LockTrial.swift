// SPDX-License-Identifier: Apache-2.0
import CPlatform
import Glibc

/// Tries, where it is in doubt, whether a lock keeps another process out.
///
/// A disk's file system keeps locks in the kernel. Of a network file system the mount options decide, and of one that a
/// program makes that program; both may grant every lock to everybody, and two processes would then write over each other.
/// The trial is one between two processes of this machine: that of another machine it cannot ask.
struct LockTrial {
    /// File systems whose locks are not this kernel's own affair, by their magic number (statfs(2), linux/magic.h).
    private static let remoteKinds: [Int: String] = [
        0x6969: "NFS", 0x517B: "SMB", 0xFF53_4D42: "CIFS", 0xFE53_4D42: "SMB2", 0x6573_5546: "FUSE",
        0x0102_1997: "9P", 0x5346_414F: "AFS", 0x6B41_4653: "AFS", 0x00C3_6400: "Ceph", 0x786F_4256: "VirtualBox",
        0x0BD0_0BD0: "Lustre", 0x4750_4653: "GPFS",
    ]
    private static let name = "lock/trial"
    /// Between two looks at the child, in microseconds.
    private static let pause: UInt32 = 500

    private let context: StoreContext

    init(_ context: StoreContext) {
        self.context = context
    }

    /// - Throws: `unavailable`, when locks keep nobody out, or cannot be tried.
    func runWhereDue() throws(StoreError) {
        // The magic numbers have 32 bits; some kernels hand them out with a sign.
        let type = context.options.lockCalls.fileSystemType(context.path) & 0xFFFF_FFFF
        guard let kind = Self.remoteKinds[type] else { return }
        let file = try Descriptor.open(context, Self.name, O_RDWR | O_CREAT)
        if context.options.lockCalls.lockByte(file.number, Int16(F_WRLCK), 0) == 0 {
            defer { _ = context.options.lockCalls.lockByte(file.number, Int16(F_UNLCK), 0) }
            try tryInChild(kind)
        } else if errno != EAGAIN && errno != EACCES {
            throw StoreError(errno, "lock", Self.name, writing: true)
        }
        // Else another process is at its trial, and has just kept us out.
        context.report(.remoteFileSystem(kind: kind))
    }

    private func tryInChild(_ kind: String) throws(StoreError) {
        let child = platform_start_lock_trial(context.path + "/" + Self.name, 0)
        guard child > 0 else { throw StoreError(errno, "fork", Self.name, writing: true) }
        switch exitStatus(of: child) {
        case 0: return
        case 1: throw .unavailable(detail: "locks keep no other process out on this file system (\(kind))")
        default: throw .unavailable(detail: "locks cannot be tried on this file system (\(kind))")
        }
    }

    /// Gives it a moment to die; one that a call holds is left to the end of this process.
    private func reap(_ child: pid_t) {
        var status: Int32 = 0
        for _ in 0..<200 {
            guard waitpid(child, &status, WNOHANG) == 0 else { return }
            usleep(Self.pause)
        }
    }

    /// Nil when it has not come to an end in time: a server that is gone may hold it in a call, also beyond its death.
    private func exitStatus(of child: pid_t) -> Int32? {
        let end = ContinuousClock.now + context.options.lockTimeout
        var status: Int32 = 0
        while true {
            let ended = waitpid(child, &status, WNOHANG)
            if ended == child { return status & 0x7F == 0 ? status >> 8 & 0xFF : nil }
            guard ended == 0 || errno == EINTR else { return nil }
            guard ContinuousClock.now < end else {
                kill(child, SIGKILL)
                reap(child)
                return nil
            }
            usleep(Self.pause)
        }
    }
}
