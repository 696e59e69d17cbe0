// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import JSON
import Support
import Testing

/// `app-backend init`
struct InitTests {
    private struct Bench {
        let folder: ScratchFolder

        init(_ configuration: String? = nil) throws {
            folder = try ScratchFolder()
            if let configuration { try folder.write(configuration, to: "app-backend.json") }
        }

        var path: String { folder.path("app-backend.json") }

        var configuration: String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }

        func run(_ arguments: String..., input: String = "") throws -> Program.Outcome {
            try Program.run(Program.appBackend, arguments + ["--config", path], input: .text(input))
        }
    }

    @Test func `a site is set up from nothing by one command, and a second time it keeps what is there`() throws {
        let bench = try Bench()
        let first = try bench.run("init", "--subject", "op@example.com", "--user", "alice", input: "alice-secret\n")
        #expect(first.status == 0 && first.output.contains("added alice\n") && !first.output.contains("alice-secret"))
        // The service's user reads root's file as everybody does.
        var status = stat()
        #expect(stat(bench.path, &status) == 0 && status.st_mode & 0o777 == (geteuid() == 0 ? 0o644 : 0o640))
        #expect(try bench.run("user", "list").output == "alice\n")
        #expect(try bench.run("check", "--quiet").status == 0)
        let document = try JSONValue(parsing: Array(bench.configuration.utf8))
        #expect(document["webPush"]?["subject"]?.string == "mailto:op@example.com")
        #expect(try bench.run("config", "show").output.contains(#/inbox\.plainDays +file +7\n/#))
        let (text, key) = (bench.configuration, try bench.run("keys", "vapid").output)
        #expect(first.output.contains(key))
        let again = try bench.run("init", "--user", "Alice", input: "other\n")
        #expect(again.status == 0 && again.output.contains("There is a user Alice already."))
        #expect(bench.configuration == text && again.output.contains(key))
        let bob = try bench.run("init", "--user", "bob", input: "bob-secret\n")
        #expect(bob.status == 0)
        #expect(try bench.run("user", "list").output == "alice\nbob\n")
    }

    @Test func `the first user may administer where that is said, by the role that there is or a new one`() throws {
        let arguments = ["init", "--subject", "op@example.com", "--user", "alice"]
        for (roles, option, expected) in [
            ("", "--administer", "administrator"), ("", "--no-administer", nil),
            (#", "roles": [{"name": "reader"}, {"name": "boss", "administer": true}]"#, "--administer", "boss"),
        ] {
            let bench = try Bench(#"{ "store": {"path": "state"}\#(roles) }"#)
            let input = ChildProcess.Input.text("alice-secret\n")
            let outcome = try Program.run(
                Program.appBackend, arguments + [option, "--config", bench.path], input: input)
            #expect(outcome.status == 0, "\(outcome.errors)")
            let shown = try JSONValue(parsing: Array(bench.run("user", "show", "alice", "--json").output.utf8))
            #expect(shown["roles"]?.array?.compactMap(\.string) ?? [] == expected.map { [$0] } ?? [])
            let again = try bench.run("init", "--user", "alice", option)
            #expect(again.status == 0)
            // Who has the role is not told how to get it.
            #expect(again.output.contains("app-backend user change alice --role") == false)
            _ = try bench.run("user", "add", "bob", input: "bob-secret\n")
            let bob = try bench.run("init", "--user", "bob", option)
            #expect(bob.output.contains("app-backend user change bob --role") == (expected != nil), "\(bob)")
        }
    }

    @Test func `what variables say, as in a container, is not written into the file`() throws {
        let bench = try Bench(#"{ "store": {"path": "state"} }"#)
        let text = bench.configuration
        let outcome = try Program.run(
            Program.appBackend, ["init", "--user", "alice", "--administer", "--config", bench.path],
            environment: [
                "APP_BACKEND_WEB_PUSH_SUBJECT=mailto:op@example.com", "APP_BACKEND_ROLES_NAME=administrator",
                "APP_BACKEND_ROLES_ADMINISTER=true",
            ], input: .text("alice-secret\n"))
        #expect(outcome.status == 0 && outcome.output.contains("added alice"), "\(outcome)")
        #expect(bench.configuration == text)
        #expect(try bench.run("user", "show", "alice").output.contains("roles: administrator"))
    }

    @Test func `an address that differs from the file's is said, and what is no address is refused`() throws {
        let bench = try Bench(#"{ "store": {"path": "state"}, "webPush.subject": "mailto:op@example.com" }"#)
        let text = bench.configuration
        func errors(_ subject: String) throws -> String {
            try bench.run("init", "--user", "alice", "--subject", subject, input: "alice-secret\n").errors
        }
        #expect(try errors("op@localhost").contains("--subject must not name this host"))
        #expect(try bench.run("user", "list").output.isEmpty)
        let said = "--subject is not used: webPush.subject is mailto:op@example.com already; change it there."
        #expect(try errors("other@example.com").contains(said))
        #expect(try !errors("op@example.com").contains("--subject"))
        #expect(bench.configuration == text)
    }

    @Test(arguments: ["remove", "disable"])
    func `of the only administrator it is said that no other is left`(command: String) throws {
        let bench = try Bench(#"{ "store": {"path": "state"}, "roles": [{"name": "boss", "administer": true}] }"#)
        for name in ["alice", "bob", "carol"] {
            let roles = name == "carol" ? [] : ["--role", "boss"]
            let arguments = ["user", "add", name, "--config", bench.path] + roles
            #expect(try Program.run(Program.appBackend, arguments, input: .text("a-secret\n")).status == 0)
        }
        let sentence = "is the only user who may administer"
        #expect(try !bench.run("user", command, "alice").errors.contains(sentence))
        #expect(try !bench.run("user", command, "carol").errors.contains(sentence))
        let last = try bench.run("user", command, "bob")
        #expect(last.status == 0 && last.errors.contains("bob \(sentence)"))
    }

    @Test func `a file that is there keeps its text, its mode and its place behind a link`() throws {
        let text = "{\n    \"store\": {\"path\": \"state\"},   \"workers\": 3\n}\n"
        let bench = try Bench()
        try bench.folder.write(text, to: "real.json")
        #expect(chmod(bench.folder.path("real.json"), 0o604) == 0)
        #expect(symlink("real.json", bench.path) == 0)
        let outcome = try bench.run("init", "--subject", "https://example.com", "--user", "alice", input: "a-secret\n")
        #expect(outcome.status == 0)
        let added = "\n  \"webPush\": { \"subject\": \"https://example.com\" },"
        #expect(bench.configuration == "{" + added + text.dropFirst())
        var status = stat()
        #expect(lstat(bench.path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
        #expect(stat(bench.path, &status) == 0 && status.st_mode & 0o777 == 0o604)
    }

    @Test func `browsers get no key from a site whose hub is elsewhere`() throws {
        let connection = "Endpoint=sb://hub.example/;SharedAccessKeyName=n;SharedAccessKey=MDEyMzQ1Njc4OWFiY2RlZg=="
        let bench = try Bench(#"{ "store": {"path": "state"}, "hub": {"connectionString": "\#(connection)"} }"#)
        let text = bench.configuration
        #expect(try bench.run("init", "--user", "alice", input: "alice-secret\n").output.contains("added alice"))
        #expect(bench.configuration == text)
        #expect(access(bench.folder.path("state/vapid.key"), F_OK) != 0)
    }

    @Test(arguments: [
        (nil, ["--user", "alice"], "--subject is missing."),
        (nil, ["--subject", "op@example.com"], "--user is missing."),
        (nil, ["--subject", "op@localhost", "--user", "alice"], "--subject must not name this host"),
        (nil, ["--subject", "op@example.com", "--user", "a b"], "A user's name has 1 to "),
        (
            #"{ "store": {"path": "s"}, "webPush": {"ttl": 60} }"#, ["--subject", "op@example.com", "--user", "a"],
            "has a group webPush"
        ),
        (
            #"{ "store": {"path": "s"}, "webPush.ttl": 60 }"#, ["--subject", "op@example.com", "--user", "a"],
            "has a group webPush"
        ),
        (
            #"{ "store": {"path": "s"}, "webPush.subject": "mailto:op@example.com", "roles": {"name": "reader"} }"#,
            ["--user", "a", "--administer"], "has a group roles"
        ),
        (#"{ "store": "#, ["--subject", "op@example.com", "--user", "a"], "in line 1"),
    ])
    func `what is missing or wrong is said, and no user is made`(
        configuration: String?, arguments: [String], sentence: String
    ) throws {
        let bench = try Bench(configuration)
        let outcome = try Program.run(
            Program.appBackend, ["init", "--config", bench.path] + arguments, input: .text("alice-secret\n"))
        #expect(outcome.status != 0 && outcome.errors.contains(sentence), "\(outcome.errors)")
        if let configuration { #expect(bench.configuration == configuration) }
        #expect(access(bench.folder.path("store"), F_OK) != 0)
    }

    @Test func `a person at a terminal is asked, and the password is not shown`() throws {
        let bench = try Bench()
        let terminal = try PseudoTerminal()
        let process = try ChildProcess(
            Program.appBackend, ["init", "--config", bench.path], environment: [], input: .terminal(terminal))
        defer { process.stop(seconds: 0) }
        for (question, answer) in [
            ("Your mail address, for push services: ", "op@example.com"), ("The first user's name: ", "alice"),
            ("May alice administer, at /admin (y or n)? ", "y"), ("Password: ", "alice-secret"),
            ("Once more: ", "alice-secret"),
        ] {
            try #require(terminal.shows(question, seconds: 60))
            terminal.type(answer + "\n")
        }
        #expect(process.wait(seconds: 60) == 0)
        #expect(terminal.text.contains("added alice") && !terminal.text.contains("alice-secret"))
        #expect(try bench.run("user", "show", "alice").output.contains("administrator"))
    }
}
