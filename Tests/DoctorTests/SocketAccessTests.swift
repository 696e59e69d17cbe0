// SPDX-License-Identifier: Apache-2.0
import Glibc
import Testing

@testable import Doctor

struct SocketAccessTests {
    private static let nginx = Account(name: "www-data", id: 33, groups: [33, 50])

    private static func mode(_ mode: mode_t, owner: uid_t = 0, group: gid_t = 0) -> FileMode {
        FileMode(kind: S_IFSOCK, mode: mode, owner: owner, group: group)
    }

    static let modes: [(FileMode, Bool)] = [
        (mode(0o660, group: 33), true), (mode(0o660, group: 50), true), (mode(0o660, group: 7), false),
        (mode(0o666), true), (mode(0o600, owner: 33), true), (mode(0o640, group: 33), false),
        // The owner's bits count for the owner, whatever the others may.
        (mode(0o066, owner: 33, group: 33), false), (mode(0o606, group: 33), false),
    ]

    @Test(arguments: modes) func `who may write to the socket may connect`(mode: FileMode, mayConnect: Bool) {
        let access = SocketAccess(folders: [], socket: mode)
        #expect(access.obstacle(for: Self.nginx) == (mayConnect ? nil : .socket(mode)))
        #expect(access.obstacle(for: Account(name: "root", id: 0, groups: [0])) == nil)
    }

    @Test func `the highest folder that nobody may enter is named`() {
        let closed = Self.mode(0o700)
        let access = SocketAccess(
            folders: [("/", Self.mode(0o755)), ("/run", Self.mode(0o711)), ("/run/a", closed), ("/run/a/b", closed)],
            socket: Self.mode(0o666))
        #expect(access.obstacle(for: Self.nginx) == .folder("/run/a", closed))
    }

    @Test func `every folder above the socket is looked at`() {
        let access = SocketAccess(path: "/usr/share/doc/none.sock")
        #expect(access.folders.map(\.path) == ["/", "/usr", "/usr/share", "/usr/share/doc"])
        #expect(access.socket == nil)
    }

    @Test func `accounts are those of the host`() {
        #expect(Account(named: "root")?.id == 0)
        #expect(Account(named: "root")?.groups.contains(0) == true)
        #expect(Account(named: "no-such-user") == nil)
    }
}
