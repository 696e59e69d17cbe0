// SPDX-License-Identifier: Apache-2.0
import AppBackend
import ArgumentParser
import JSON
import Server
import Store

/// `app-backend user list`
struct UserListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the users.",
        discussion: """
            On a terminal a table of their roles, since when they are disabled, until when they may log in, how many devices \
            they have and when they were last seen. Elsewhere the names alone, one a line.
            """)

    @OptionGroup var options: ConfigurationOptions
    @Flag(help: "Print one JSON array.") var json = false

    func run() throws {
        let store = try options.openStore(migrates: false).store
        let users = try store.users()
        guard json || Terminal.isOutputTerminal else { return users.forEach { print($0.name) } }
        let list = UserList(
            entries: try users.map { user in
                // Without ids that were handed out and never used.
                let devices = try store.devices(owner: user.owner).filter { !$0.platform.isEmpty }
                return (user, devices.count)
            })
        print(json ? list.json : list.table)
    }
}

/// What is printed of all users.
struct UserList {
    let entries: [(user: User, devices: Int)]

    var table: String {
        let rows = entries.map { user, devices in
            [
                user.name, user.roles.isEmpty ? "-" : user.roles.joined(separator: ","), user.disabledAt?.text ?? "-",
                user.expiresAt?.text ?? "-", String(devices), user.lastSeenAt?.text ?? "-",
            ]
        }
        let head = ["name", "roles", "disabled", "expires", "devices", "last seen"]
        return TextTable.lines([head] + rows, textColumns: [0, 1, 2, 3, 5]).joined(separator: "\n")
    }

    /// As `user show --json` names it.
    var json: String {
        JSONWriter.array(entries) { entry, json in
            json.member("name", entry.user.name)
            json.member("roles", entry.user.roles)
            if let disabledAt = entry.user.disabledAt { json.member("disabledAt", disabledAt.text) }
            if let expiresAt = entry.user.expiresAt { json.member("expiresAt", expiresAt.text) }
            if let lastSeenAt = entry.user.lastSeenAt { json.member("lastSeenAt", lastSeenAt.text) }
            json.member("devices", entry.devices)
        }.text
    }
}
