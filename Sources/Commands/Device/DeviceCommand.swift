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
                The registration id, the platform, when it was registered last, the tags that the user asked for, since when \
                and why a device is gone, and the last message that it did not get, of those that named the user. The \
                handle, to which push services deliver, is not shown.
                """)

        @OptionGroup var options: ConfigurationOptions
        @Flag(help: "Print one JSON array.") var json = false
        @Argument(help: "The user.") var name: String

        func run() throws {
            let (configuration, site, store) = try UserCommand.site(options)
            defer { site.close() }
            let user = try UserCommand.existing(name, in: store, or: configuration)
            let devices = try store.devices(owner: user.owner).filter { !$0.isUnused }
            let failures = try site.lastFailures(of: user, in: store)
            guard !json else {
                return print(JSONWriter.array(devices) { $0.writeMembers(failures[$0.id], to: &$1) }.text)
            }
            let rows = devices.map { device in
                [
                    device.id, device.platform.isEmpty ? "being removed" : device.platform, device.updatedAt.text,
                    device.words(failures[device.id]),
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
    /// The tags that its user asked for, whether it is gone, and its last failure.
    func words(_ failure: MessageHistory.Failure?) -> String {
        let gone = isGone ? gone.map { "(gone since \($0.at.text): \($0.reason))" } : nil
        let failed = failure.map { "(last failure at \($0.at.text): \($0.outcome))" }
        return (tags + [gone, failed].compactMap(\.self)).joined(separator: " ")
    }

    /// What an operator is shown of a device in JSON; its handle is not among it.
    func writeMembers(_ failure: MessageHistory.Failure?, to json: inout JSONWriter) {
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
        if let failure {
            json.member("lastFailure") { json in
                json.member("at", failure.at.text)
                json.member("outcome", failure.outcome)
            }
        }
    }
}

extension Site {
    /// The last failure of each device of a user, by its registration id. A hub elsewhere tells of no device, and is not asked.
    func lastFailures(
        of user: User, in store: any SiteStore
    ) throws(StoreError) -> [String: MessageHistory.Failure] {
        guard hasBuiltInHub else { return [:] }
        return try MessageHistory(store: store, now: Site.now).lastFailures(of: user.name) { details(of: $0) }
    }
}
