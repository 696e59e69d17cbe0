// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import JSON
import PostgresStore
import Server
import Store

/// `app-backend store migrate`
struct StoreMigrateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Make the tables in the database of store.url, or bring them to this version.",
        discussion: """
            The service does not start on a database whose tables are missing or of another version. Where there is \
            nothing to do, nothing is done. Everything happens in one schema, app_backend, which is made if the role \
            may make it.
            """)

    @OptionGroup var options: ConfigurationOptions
    @Flag(help: "Print one JSON object.") var json = false

    func run() throws {
        let place = try options.load().store
        guard case .database(let url, _) = place else {
            throw CommandError(
                "The state is in \(place); there is nothing to migrate. A database is named by store.url.")
        }
        let migration = try PostgresSiteStore.migrate(url: url.reveal())
        json ? printJSON(migration) : print(words(migration))
    }

    private func words(_ migration: PostgresSiteStore.Migration) -> String {
        switch migration.before {
        case 0: "made the tables of version \(migration.after)"
        case migration.after: "the tables are of version \(migration.after) already"
        default: "brought the tables from version \(migration.before) to \(migration.after)"
        }
    }

    private func printJSON(_ migration: PostgresSiteStore.Migration) {
        let json = JSONWriter.object {
            $0.member("before", migration.before)
            $0.member("after", migration.after)
        }
        print(json.text)
    }
}
