// SPDX-License-Identifier: Apache-2.0
import JSON
import Store
import Testing
import Text

@testable import Commands

/// What `user list` prints for people and for scripts.
struct UserListTests {
    private var list: UserList {
        var bob = User(name: "bob", passwordHash: "$y$1")
        bob.roles = ["editor", "admin"]
        bob.disabledAt = Timestamp(seconds: 0)
        bob.expiresAt = Timestamp(seconds: 60)
        bob.lastSeenAt = Timestamp(seconds: 3_600)
        return UserList(entries: [(User(name: "alice", passwordHash: "$y$1"), 0), (bob, 12)])
    }

    @Test func `the table has a header, and a dash where there is nothing`() {
        let rows = list.table.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        #expect(
            rows == [
                ["name", "roles", "disabled", "expires", "devices", "last", "seen"],
                ["alice", "-", "-", "-", "0", "-"],
                [
                    "bob", "editor,admin", "1970-01-01T00:00:00Z", "1970-01-01T00:01:00Z", "12",
                    "1970-01-01T01:00:00Z",
                ],
            ])
    }

    @Test func `the JSON has what there is`() {
        #expect(
            list.json == #"[{"name":"alice","roles":[],"devices":0},{"name":"bob","roles":["editor","admin"],"#
                + #""disabledAt":"1970-01-01T00:00:00Z","expiresAt":"1970-01-01T00:01:00Z","#
                + #""lastSeenAt":"1970-01-01T01:00:00Z","devices":12}]"#)
    }
}
