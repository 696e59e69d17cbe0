// SPDX-License-Identifier: Apache-2.0
import Foundation
import JSON
import Support
import Testing

/// What an administrator types when the state is in PostgreSQL; no server of ours needed.
struct DatabaseStories {
    /// A folder with a configuration for it, and a database with one.
    private struct Move {
        let scratch: ScratchFolder
        let url: String
        let files: String
        let database: String

        init() throws {
            scratch = try ScratchFolder()
            url = try PostgresServer.shared.get().makeDatabase()
            files = try scratch.write(#"{"store":{"path":"\#(scratch.path("store"))"}}"#, to: "files.json")
            database = try scratch.write(#"{"store":{"url":"\#(url)"}}"#, to: "database.json")
        }

        /// Runs a command with the configuration of the one or the other.
        func run(_ arguments: String..., on configuration: String, input: String = "") throws -> Program.Outcome {
            try Program.run(Program.appBackend, arguments + ["--config", configuration], input: .text(input))
        }
    }

    @Test func `the tables are made once, and before that a command says what makes them`() throws {
        let move = try Move()
        for command in [["check"], ["user", "list"], ["store", "export"]] {
            let early = try Program.run(Program.appBackend, command + ["--config", move.database])
            #expect(early.status == 1 && early.errors.contains("app-backend store migrate"), "\(command)")
            #expect(!early.errors.contains(move.url))
        }
        let made = try move.run("store", "migrate", "--json", on: move.database)
        let after = try #require(try JSONValue(parsing: Array(made.output.utf8.dropLast()))["after"]?.integer)
        #expect(made.status == 0 && made.output == "{\"before\":0,\"after\":\(after)}\n")
        let again = try move.run("store", "migrate", on: move.database)
        #expect(again.status == 0 && again.output == "the tables are of version \(after) already\n")
        let checked = try move.run("check", on: move.database)
        #expect(checked.status == 0 && checked.output.contains("the PostgreSQL database of store.url"))
        #expect(!(checked.output + checked.errors).contains(move.url))
    }

    @Test func `a site moves into a database and back, and nothing is another`() throws {
        let move = try Move()
        for name in ["alice", "bob"] {
            #expect(try move.run("user", "add", name, on: move.files, input: "secret-\(name)\n").status == 0)
        }
        // The secret is kept, and not pushed: there is no device.
        #expect(try move.run("send", "--to", "bob", "--secure", "the text", on: move.files).status == 3)
        let exported = try move.run("store", "export", on: move.files)
        #expect(exported.status == 0 && exported.output.contains("the text"))

        #expect(try move.run("store", "migrate", on: move.database).status == 0)
        let imported = try move.run("store", "import", on: move.database, input: exported.output)
        #expect(imported.status == 0, "\(imported.errors)")
        #expect(try move.run("user", "list", on: move.database).output == "alice\nbob\n")
        let back = try move.run("store", "export", on: move.database)
        #expect(Self.records(back) == Self.records(exported))
        // Again changes nothing.
        let again = try move.run("store", "import", "--json", on: move.database, input: exported.output)
        #expect(try JSONValue(parsing: Array(again.output.utf8.dropLast()))["imported"]?.integer == 0)
        #expect(try Self.records(move.run("store", "export", on: move.database)) == Self.records(exported))

        let other = try move.scratch.write(#"{"store":{"path":"\#(move.scratch.path("other"))"}}"#, to: "other.json")
        #expect(try move.run("store", "import", on: other, input: back.output).status == 0)
        #expect(try Self.records(move.run("store", "export", on: other)) == Self.records(exported))
        #expect(try move.run("store", "verify", on: other).status == 0)
    }

    @Test func `what is for a folder says so of a database, and the other way round`() throws {
        let move = try Move()
        #expect(try move.run("store", "migrate", on: move.database).status == 0)
        for command in ["verify", "backup"] {
            let refused = try move.run("store", command, on: move.database)
            #expect(refused.status == 1 && refused.errors.contains("store.path"), "\(command)")
        }
        let files = try move.run("store", "migrate", on: move.files)
        #expect(files.status == 1 && files.errors.contains("store.url"))
        let keys = try move.run("keys", "vapid", on: move.database)
        #expect(keys.status == 1 && keys.errors.contains("webPush.privateKeyFile"))
    }

    @Test func `a database that cannot be had is named by its key, never by its address`() throws {
        let scratch = try ScratchFolder()
        let server = try PostgresServer.shared.get()
        for url in [
            "postgresql://app:hidden-word@/nowhere?host=\(server.folder)",
            "postgresql://app:hidden-word@/x?host=\(scratch.path("nosuch"))",
            "postgresql://app:hidden-word@127.0.0.1:1/x", "postgresql://app:hidden-word@/x?nonsense=1",
        ] {
            let file = try scratch.write(#"{"store":{"url":"\#(url)"}}"#, to: "c.json")
            let refused = try Program.run(Program.appBackend, ["check", "--config", file])
            #expect(refused.status == 1 && refused.errors.hasPrefix("store.url: "), "\(refused.errors)")
            let doctor = try Program.run(
                Program.appBackend, ["doctor", "--config", file, "--socket", "none", "--json"])
            let diagnosis = try Diagnosis(doctor)
            #expect(diagnosis.wrong.contains("store") && diagnosis.cure("store").contains("store.url in"))
            #expect(!(refused.errors + doctor.output + doctor.errors).contains("hidden-word"))
        }
    }

    @Test func `the doctor looks into a database as into a folder`() throws {
        let move = try Move()
        #expect(try move.run("store", "migrate", on: move.database).status == 0)
        func walk() throws -> Diagnosis {
            try Diagnosis(
                Program.run(
                    Program.appBackend, ["doctor", "--config", move.database, "--socket", "none", "--json"]))
        }
        #expect(try walk().found("store").contains("there are no users"))
        #expect(try move.run("user", "add", "alice", on: move.database, input: "secret\n").status == 0)
        #expect(try walk().found("store").contains("the PostgreSQL database of store.url: 1 user"))
    }

    @Test(.enabled(if: Mount.isPossible, "only root becomes another user, and may mount"))
    func `a database that only root can reach is found, because the service's user asks it`() throws {
        let move = try Move()
        #expect(try move.run("store", "migrate", on: move.database).status == 0)
        #expect(try move.run("user", "add", "alice", on: move.database, input: "secret\n").status == 0)
        // A way to the server's folder, which root may go.
        let closed = try move.scratch.makeFolder("closed")
        let server = try PostgresServer.shared.get().folder
        #expect(symlink(server, closed + "/server") == 0)
        let url = move.url.replacing("host=\(server)", with: "host=\(closed)/server")
        let file = try move.scratch.write(#"{"store":{"url":"\#(url)"}}"#, to: "closed.json")
        for path in [move.database, file] { #expect(chmod(path, 0o644) == 0) }
        #expect(chmod(move.scratch.path, 0o755) == 0)
        // Who may go into the server's folder.
        var status = stat()
        #expect(stat(server, &status) == 0 && status.st_uid != 0)
        for (configuration, isReached) in [(move.database, true), (file, false)] {
            for command in [["check"], ["doctor", "--socket", "none"]] {
                let outcome = try Self.beside(serviceOf: status.st_uid, command + ["--config", configuration])
                #expect((outcome.status == 0) == isReached, "\(command) \(outcome)")
            }
        }
    }

    /// Runs a command as root on a host that has the folder which systemd makes for the service of that user.
    private static func beside(serviceOf user: uid_t, _ arguments: [String]) throws -> Program.Outcome {
        let script = """
            mount -t tmpfs -o mode=0755 tmpfs /var/lib && mkdir /var/lib/app-backend &&
            chown \(user):\(user) /var/lib/app-backend && exec "$0" "$@"
            """
        let command = ["--mount", "/bin/sh", "-c", script, Program.appBackend]
        return try Program.run("/usr/bin/unshare", command + arguments)
    }

    /// Without the first line, which says when it was.
    private static func records(_ export: Program.Outcome) -> Set<Substring> {
        Set(export.output.split(separator: "\n").dropFirst())
    }
}
