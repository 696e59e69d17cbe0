// SPDX-License-Identifier: Apache-2.0
import AppBackend
import ArgumentParser
import JSON
import Server
import Store

/// `app-backend device`
struct DeviceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device", abstract: "Manage a user's devices.", subcommands: [List.self, Remove.self])

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List a user's devices, one a line.",
            discussion: """
                The registration id, the platform, when it was registered last, the tags that the user asked for, and since \
                when and why a device is gone. The handle, to which push services deliver, is not shown.
                """)

        @OptionGroup var options: ConfigurationOptions
        @Flag(help: "Print one JSON array.") var json = false
        @Argument(help: "The user.") var name: String

        func run() throws {
            let (configuration, store) = try options.openStore()
            let user = try UserCommand.existing(name, in: store, or: configuration)
            let devices = try store.devices(owner: user.owner).filter { !$0.isUnused }
            guard !json else { return print(JSONWriter.array(devices) { $0.writeMembers(to: &$1) }.text) }
            let rows = devices.map { device in
                [
                    device.id, device.platform.isEmpty ? "being removed" : device.platform, device.updatedAt.text,
                    device.words,
                ]
            }
            TextTable.lines(rows, textColumns: [0, 1, 2, 3]).forEach { print($0) }
        }
    }

    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a user's device, at the hub too.",
            discussion: """
                It gets nothing more. An app that still has its user's password, session or app token registers again when \
                it is started next: `user passwd`, `session end` or `user token revoke` prevents that. When the hub cannot \
                be reached, the exit status is 4; the service goes on with it.
                """)

        @OptionGroup var options: ConfigurationOptions
        @Argument(help: "The user.") var name: String
        @Argument(help: "The device's registration id, as `list` shows it.") var id: String

        func run() throws {
            let (configuration, site, store) = try UserCommand.site(options)
            defer { site.close() }
            let administration = UserCommand.administration(configuration, store)
            let remains = try administration.removeDevice(id, of: name, by: site.upkeep)
            print("removed \(id)")
            try UserCommand.finish(remains) { "\($0) could not be removed at the hub: \($1); the service retries" }
        }
    }
}

extension DeviceRecord {
    /// The tags that its user asked for, and whether it is gone.
    var words: String {
        let gone = isGone ? gone.map { "(gone since \($0.at.text): \($0.reason))" } : nil
        return (tags + [gone].compactMap(\.self)).joined(separator: " ")
    }

    /// What an operator is shown of a device in JSON; its handle is not among it.
    func writeMembers(to json: inout JSONWriter) {
        json.member("id", id)
        json.member("platform", platform)
        json.member("tags", tags)
        json.member("registeredAt", updatedAt.text)
        json.member("pending", needsReconciliation)
        if let gone, isGone {
            json.member("gone") { json in
                json.member("at", gone.at.text)
                json.member("reason", gone.reason)
            }
        }
    }
}
