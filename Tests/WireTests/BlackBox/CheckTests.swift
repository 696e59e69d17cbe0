// SPDX-License-Identifier: Apache-2.0
import Foundation
import Support
import Testing

/// `app-backend check`, `--help` and `--version`: no server needed.
struct CheckTests {
    private static let key = "0123456789abcdef0123456789abcdef"

    @Test func `each fault of a configuration is one line, and the status is 1`() throws {
        let folder = try ScratchFolder()
        let outcome = try check(
            #"{ "store": { "path": "\#(folder.path("store"))" }, "workers": 0, "hub": { "nmae": "x" } }"#, folder)
        #expect(outcome.status == 1 && outcome.output.isEmpty)
        #expect(outcome.complaints.map { $0.prefix(23) } == ["configuration: hub.nmae", "configuration: workers:"])
    }

    @Test func `a good configuration is status 0 and nothing of its secrets is shown`() throws {
        let folder = try ScratchFolder()
        let outcome = try check(
            #"{ "store": { "path": "\#(folder.path("store"))" }, "localHub": { "serve": true, "key": "\#(Self.key)" } }"#,
            folder)
        #expect(outcome.status == 0 && outcome.output.hasPrefix("The configuration is right.\n"))
        #expect(!(outcome.output + outcome.errors).contains(Self.key))
    }

    @Test(arguments: [["check"], ["user", "list"], ["serve"]])
    func `where there is no configuration, the missing file is named`(command: [String]) throws {
        try #require(access("/etc/app-backend/app-backend.json", F_OK) != 0)
        let outcome = try Program.run(Program.appBackend, command)
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("store.path: is needed, and there is no configuration: "))
        #expect(outcome.errors.contains("neither /etc/app-backend/app-backend.json nor /"))
    }

    @Test func `a place where the service cannot listen is a fault`() throws {
        let folder = try ScratchFolder()
        let store = folder.path("store")
        func configuration(_ listen: String) -> String {
            #"{ "store": { "path": "\#(store)" }, "listen": "\#(listen)" }"#
        }
        let right = try check(configuration(folder.path("socket")), folder)
        #expect(right.status == 0 && !folder.has("socket"), "\(right)")
        let missing = try check(configuration(folder.path("missing/socket")), folder)
        #expect(missing.status == 1 && missing.errors.contains("configuration: listen: "), "\(missing)")
        let file = try check(configuration(try folder.write("", to: "file")), folder)
        #expect(file.status == 1 && file.errors.contains("exists and is not a socket"), "\(file)")
        let other = try EchoResponder(in: folder)
        defer { other.stop() }
        let taken = try check(configuration(other.socket), folder)
        #expect(taken.status == 1 && taken.errors.contains("another process answers on"), "\(taken)")
    }

    private static let othersMayRun: Bool = {
        let (program, arguments) = Account.command("/usr/bin/test", ["-r", Program.appBackend])
        return (try? Program.run(program, arguments).status) == 0
    }()

    @Test(.enabled(if: othersMayRun, "the program is in a folder of root's alone"))
    func `a user who may not look at the store reads who may`() throws {
        let folder = try ScratchFolder()
        let store = try folder.makeFolder("store")
        let file = try folder.write(#"{ "store": { "path": "\#(store)" } }"#, to: "app-backend.json")
        #expect(chmod(store, 0) == 0 && chmod(folder.path, 0o711) == 0 && chmod(file, 0o644) == 0)
        defer { #expect(chmod(store, 0o700) == 0) }
        let (program, arguments) = Account.command(Program.appBackend, ["user", "list", "--config", file])
        let outcome = try Program.run(program, arguments)
        #expect(outcome.status == 1 && outcome.errors.contains("Permission denied"), "\(outcome)")
        #expect(outcome.errors.contains("Only root and the store's owner may do this: `sudo app-backend …`"))
    }

    @Test func `a store that others may enter is a fault`() throws {
        let folder = try ScratchFolder()
        let store = try folder.makeFolder("store")
        let text = #"{ "store": { "path": "\#(store)" } }"#
        #expect(try check(text, folder).status == 0)
        #expect(chmod(store, 0o755) == 0)
        let outcome = try check(text, folder)
        #expect(outcome.status == 1 && outcome.errors.contains("store.path"))
    }

    @Test func `the tutorial's own log-in is warned of`() throws {
        let folder = try ScratchFolder()
        let outcome = try check(
            #"{ "store": { "path": "\#(folder.path("store"))" }, "auth": { "method": "test" } }"#, folder)
        #expect(outcome.status == 0 && outcome.errors.contains("never on the internet"))
    }

    @Test func `users with two ways to log in, or with a role that there is not, are named`() throws {
        let folder = try ScratchFolder()
        let store = #""store": { "path": "\#(folder.path("store"))" }"#
        let before = try folder.write(#"{ \#(store), "roles": { "name": "editor" } }"#, to: "before.json")
        let added = try Program.run(
            Program.appBackend, ["user", "add", "id.bob", "--role", "editor", "--config", before],
            input: .text("secret\n"))
        #expect(added.status == 0)
        let issuer = #"{ "issuer": "https://id.example", "prefix": "id", "audience": ["a"] }"#
        let outcome = try check(#"{ \#(store), "auth": { "issuers": \#(issuer) } }"#, folder)
        #expect(outcome.status == 0 && outcome.complaints.count == 2)
        #expect(outcome.errors.contains("so two can log in as one user: id.bob: `app-backend user passwd NAME --none`"))
        #expect(outcome.errors.contains("a role that the configuration does not have: id.bob (editor)"))
    }

    @Test func `version and help are printed and exit 0`() throws {
        let version = try Program.run(Program.appBackend, ["--version"])
        #expect(version.status == 0 && version.output.wholeMatch(of: /\d+\.\d+\.\d+\n/) != nil)
        for command in [
            [], ["serve"], ["check"], ["doctor"], ["user"], ["user", "add"], ["send"], ["keys"], ["keys", "vapid"],
        ] {
            let help = try Program.run(Program.appBackend, command + ["--help"])
            #expect(help.status == 0 && help.output.contains("USAGE: app-backend"))
        }
        let unknown = try Program.run(Program.appBackend, ["dance"])
        #expect(unknown.status == 64 && !unknown.errors.isEmpty)
    }

    private func check(
        _ text: String, _ folder: ScratchFolder, environment: [String] = []
    ) throws -> Program.Outcome {
        try folder.write(text, to: "app-backend.json")
        return try Program.run(
            Program.appBackend, ["check", "--config", folder.path("app-backend.json")], environment: environment)
    }
}
