// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import JSON
import Server
import Store

/// `app-backend store show`
struct StoreShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Print the records of an owner or id, as they stand.",
        discussion: """
            One JSON object a line, without checksums. KEY is an id, an owner's name, a tag or a handle, as the table or \
            an index of it knows its records by; of hub/queue a message's id, or hub for all. Whatever is or may be a \
            secret is hidden: passwords' hashes, messages, handles, tokens. docs/store.md names the tables.
            """)

    @OptionGroup var options: ReadingOptions
    @Flag(help: "Show secrets, too.") var secrets = false
    @Argument(help: "The table.") var table: String
    @Argument(help: "The owner or id.") var key: String

    func run() throws {
        let store = try options.open()
        let table = try store.tableOrComplain(table)
        var count = 0
        try store.forEachRecord(of: table, key: key, now: Site.now()) { record in
            count += 1
            var json = JSONWriter()
            json.value(secrets ? record : table.withoutSecrets(record))
            print(String(decoding: json.bytes, as: UTF8.self))
        }
        guard count > 0 else { throw Complaint("There is no such record in \(table.name).") }
    }
}
