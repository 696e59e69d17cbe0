// SPDX-License-Identifier: Apache-2.0
import CPlatform

/// File systems whose locks are not the affair of this kernel alone. The mount options of a network file system, or the
/// program behind a mount, decide whether a lock excludes another machine, or anything at all.
enum RemoteFileSystem {
    /// By their magic numbers (statfs(2), linux/magic.h).
    private static let kinds: [Int: String] = [
        0x6969: "NFS", 0x517B: "SMB", 0xFF53_4D42: "CIFS", 0xFE53_4D42: "SMB2", 0x6573_5546: "FUSE",
        0x0102_1997: "9P", 0x5346_414F: "AFS", 0x6B41_4653: "AFS", 0x00C3_6400: "Ceph", 0x786F_4256: "VirtualBox",
        0x0BD0_0BD0: "Lustre", 0x4750_4653: "GPFS",
    ]

    /// - Parameter type: as statfs(2) has it. The magic numbers have 32 bits; some kernels give them a sign.
    /// - Returns: nil for a file system of this machine.
    static func kind(ofType type: Int) -> String? { kinds[type & 0xFFFF_FFFF] }
}
