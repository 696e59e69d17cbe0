// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// A user of this host and his groups, as far as file modes ask for them.
package struct Account: Equatable, Sendable {
    package let name: String
    let id: uid_t
    let groups: Set<gid_t>

    private static let maximumGroups: Int32 = 1024
    private static let bufferBytes = 16_384

    init(name: String, id: uid_t, groups: Set<gid_t>) {
        self.name = name
        self.id = id
        self.groups = groups
    }

    /// Nil, when the host knows nobody of that name.
    package init?(named name: String) {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: Self.bufferBytes)
        guard getpwnam_r(name, &entry, &buffer, buffer.count, &found) == 0, found != nil else { return nil }
        var groups = [gid_t](repeating: 0, count: Int(Self.maximumGroups))
        var count = Self.maximumGroups
        guard getgrouplist(name, entry.pw_gid, &groups, &count) >= 0 else { return nil }
        self.init(name: name, id: entry.pw_uid, groups: Set(groups.prefix(Int(count))))
    }

    /// Whether the mode grants him all these bits (4 read, 2 write, 1 search). Root may everything.
    func may(_ bits: mode_t, _ file: FileMode) -> Bool {
        if id == 0 { return true }
        let shift: mode_t = file.owner == id ? 6 : groups.contains(file.group) ? 3 : 0
        return (file.mode >> shift) & bits == bits
    }
}

/// What stat(2) says of who may use a file.
package struct FileMode: Equatable, Sendable {
    var kind: mode_t
    var mode: mode_t
    var owner: uid_t
    var group: gid_t

    init(kind: mode_t, mode: mode_t, owner: uid_t, group: gid_t) {
        self.kind = kind
        self.mode = mode
        self.owner = owner
        self.group = group
    }

    /// Nil, and `errno`, when there is no such file or it may not be looked at.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(
            kind: status.st_mode & S_IFMT, mode: status.st_mode & 0o777, owner: status.st_uid, group: status.st_gid)
    }

    var isSocket: Bool { kind == S_IFSOCK }
    var octal: String { String(mode, radix: 8) }
}
