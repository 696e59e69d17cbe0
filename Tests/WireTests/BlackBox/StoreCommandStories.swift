// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import Foundation
import Glibc
import JSON
import Support
import Testing

extension WireTests {
    /// Moving a site, beside a server that is running.
    struct StoreCommandStories {
        private func json(_ outcome: Program.Outcome) throws -> JSONValue {
            #expect(outcome.status == 0)
            return try JSONValue(parsing: Array(outcome.output.utf8.dropLast()))
        }

        @Test func `a site is exported while it serves, and imported into an empty one, where its users log in`() throws
        {
            let site = try sharedSite()
            let alice = try site.addUser("alice")
            _ = try site.register(alice, handle: site.makeHandle())
            let exported = try site.run("store", "export")
            #expect(exported.status == 0 && exported.output.hasPrefix(#"{"export":"app-backend","format":1,"#))
            let folder = try ScratchFolder()
            let file = try folder.write(exported.output, to: "site.jsonl")
            let configuration = try folder.write(
                #"{"store":{"path":"\#(try folder.makeFolder("store"))"}}"#, to: "copy.json")
            func run(_ arguments: [String], from input: String? = nil) throws -> Program.Outcome {
                try Program.run(
                    Program.appBackend, arguments + ["--config", configuration],
                    environment: ["TMPDIR=\(folder.path)"], input: input.map { .file($0) } ?? .nothing)
            }
            let checked = try json(run(["store", "import", "--dry-run", "--json", file]))
            let count = try #require(checked["records"]?.integer)
            #expect(count > 1 && checked["whole"]?.bool == true)
            #expect(try run(["store", "export"]).output.split(separator: "\n").count == 2)
            let imported = try json(run(["store", "import", "--json"], from: file))
            #expect(imported["imported"]?.integer == count && imported["existing"]?.integer == 0)
            #expect(try run(["store", "import", file]).output == "imported 0 records, \(count) were there already\n")
            #expect(
                Set(try run(["store", "export"]).output.split(separator: "\n").dropFirst())
                    == Set(exported.output.split(separator: "\n").dropFirst()))
            #expect(try run(["store", "verify"]).status == 0)
            #expect(exported.output.contains(#""owner":"\#(alice.name)""#))
            #expect(try mode(of: folder.path("store/users.jsonl")) == 0o600)
        }

        @Test func `an export that fails leaves no file in the way of the next one`() throws {
            let folder = try ScratchFolder()
            let store = try folder.makeFolder("store")
            let configuration = try folder.write(#"{"store":{"path":"\#(store)"}}"#, to: "c.json")
            try folder.write(#"{"format":99,"salt":"x"}"#, to: "store/store.json")
            let output = folder.path("site.jsonl")
            let arguments = ["store", "export", "--output", output, "--config", configuration]
            #expect(try Program.run(Program.appBackend, arguments).status == 1)
            #expect(access(output, F_OK) != 0)
            #expect(unlink(folder.path("store/store.json")) == 0)
            #expect(try Program.run(Program.appBackend, arguments).status == 0)
            #expect(access(output, F_OK) == 0)
        }

        @Test func `only commands that write bring a store of an older version to this one's format`() throws {
            let folder = try ScratchFolder()
            let store = try folder.makeFolder("store")
            let configuration = try folder.write(#"{"store":{"path":"\#(store)"}}"#, to: "c.json")
            let salt = String(repeating: "0a", count: 16)
            let settings = try folder.write(#"{"format":2,"salt":"\#(salt)"}"#, to: "store/store.json")
            func format(after command: [String], input: String = "") throws -> Int? {
                _ = try Program.run(Program.appBackend, command + ["--config", configuration], input: .text(input))
                return try JSONValue(parsing: Array(String(contentsOfFile: settings, encoding: .utf8).utf8))["format"]?
                    .integer
            }
            for command in [
                ["check"], ["doctor", "--timeout", "1"], ["user", "list"], ["user", "show", "alice"],
                ["user", "token", "list", "alice"], ["session", "list", "alice"], ["store", "export"],
            ] {
                #expect(try format(after: command) == 2, "\(command)")
            }
            #expect(try format(after: ["user", "add", "alice"], input: "a long password\n") == 3)
        }

        @Test func `an export that is cut, or has a wrong line, is not imported, and the line is named`() throws {
            let folder = try ScratchFolder()
            let configuration = try folder.write(
                #"{"store":{"path":"\#(try folder.makeFolder("store"))"}}"#, to: "c.json")
            func run(_ arguments: [String]) throws -> Program.Outcome {
                try Program.run(Program.appBackend, ["store"] + arguments + ["--config", configuration])
            }
            let header = #"{"export":"app-backend","format":1,"version":"1","exportedAt":"2026-11-21T12:00:00Z"}"#
            let user = #"{"table":"users","id":"alice","passwordHash":"x","version":2}"#
            let cut = try folder.write(header + "\n" + user + "\n" + user.prefix(30), to: "cut.jsonl")
            let refused = try run(["import", cut])
            #expect(refused.status == 1 && refused.output.isEmpty && refused.errors.contains("end of the export"))
            let wrong = try folder.write(
                [
                    header, user, #"{"table":"cars","id":"x"}"#, "{",
                    user.replacing(#""version":2"#, with: #""version":\#(Int.max - 1)"#),
                ].joined(separator: "\n") + "\n", to: "wrong.jsonl")
            for options in [[], ["--allow-cut"], ["--dry-run"]] {
                let outcome = try run(["import", wrong] + options)
                #expect(outcome.status == 1 && outcome.complaints.count == 4)
                for (index, line) in (3...5).enumerated() {
                    #expect(outcome.complaints[index].hasPrefix("\(wrong):\(line): "))
                }
                #expect(outcome.complaints[2].contains(#""version" is more than"#))
            }
            #expect(try run(["export"]).output.contains(#""records":0"#))
            #expect(try run(["import", cut, "--allow-cut"]).output == "imported 1 record, 0 were there already\n")
            #expect(try run(["import", folder.path("nowhere")]).status == 1)
            let output = folder.path("out.jsonl")
            #expect(try run(["export", "--output", output]).status == 0)
            #expect(try mode(of: output) == 0o600 && run(["export", "--output", output]).status == 1)
            #expect(try run(["import", output]).output == "imported 0 records, 1 was there already\n")
        }

        private func mode(of path: String) throws -> mode_t {
            var status = stat()
            try #require(stat(path, &status) == 0)
            return status.st_mode & 0o777
        }
    }
}
