// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import Foundation
import Glibc
import JSON
import Processes
import Testing

extension WireTests {
    /// What an administrator counts, shows, edits, tidies and moves, beside a server that is running.
    struct StoreCommandStories {
        private func json(_ outcome: Program.Outcome) throws -> JSONValue {
            #expect(outcome.status == 0)
            return try JSONValue(parsing: Array(outcome.output.utf8.dropLast()))
        }

        /// Runs the product with an editor that is a line of shell; the file is its `$1`.
        private func edit(_ site: WireSite, _ table: String, _ key: String, _ script: String) throws -> Program.Outcome
        {
            let folder = try ScratchFolder()
            let editor = try folder.write("#!/bin/sh\n\(script)\n", to: "editor")
            return try withExtendedLifetime(folder) {
                try Program.run(
                    Program.appBackend, ["store", "edit", table, key, "--config", site.backend.configuration],
                    environment: ["EDITOR=/bin/sh \(editor)", "TMPDIR=\(folder.path)"])
            }
        }

        @Test func `a running store is counted, without a word of what it holds`() throws {
            let site = try sharedSite()
            let alice = try site.addUser("alice")
            let stats = try site.run("store", "stats")
            #expect(stats.status == 0 && stats.errors.isEmpty && !stats.output.contains(alice.name))
            #expect(stats.output.contains("notifications") && stats.output.contains("largest file: "))
            let users = try json(site.run("store", "stats", "--json"))["tables"]?["users"]
            #expect(try #require(users?["records"]?.integer) > 0 && users?["brokenLines"]?.integer == 0)
        }

        @Test func `a record is shown without its secrets, unless they are asked for`() throws {
            let site = try sharedSite()
            let alice = try site.addUser("alice")
            let text = site.secrets.make("shown ")
            _ = try site.sendSecure(text, from: alice, to: alice)
            let shown = try site.run("store", "show", "notifications", alice.name)
            #expect(shown.status == 0 && !shown.output.contains(text) && shown.output.contains("(hidden)"))
            #expect(try site.run("store", "show", "notifications", alice.name, "--secrets").output.contains(text))
            for arguments in [["users", "nobody"], ["nothing", "alice"]] {
                let outcome = try site.run(["store", "show"] + arguments, input: "")
                #expect(outcome.status == 1 && outcome.output.isEmpty && !outcome.errors.isEmpty)
            }
        }

        @Test func `what is edited counts for the running server at once`() throws {
            let site = try sharedSite()
            let alice = try site.addUser("alice")
            let id = try site.sendSecure(site.secrets.make("before "), from: alice, to: alice)
            let after = site.secrets.make("after ")
            let edited = try edit(
                site, "notifications", alice.name, #"sed -i 's/"payload":"[^"]*"/"payload":"\#(after)"/' "$1""#)
            #expect(edited.status == 0 && edited.output == "changed 1 records\n")
            #expect(try site.readSecure(id, as: alice) == after)
            #expect(try json(site.run("store", "verify", "--json"))["editedLines"]?.integer == 0)
        }

        @Test func `a text with faults changes nothing, is named line by line, and is kept in a file`() throws {
            let site = try sharedSite()
            let alice = try site.addUser("alice")
            let folder = try ScratchFolder()
            let editor = try folder.write("#!/bin/sh\nsed -i 's/^{/[/' \"$1\"\n", to: "editor")
            let outcome = try Program.run(
                Program.appBackend, ["store", "edit", "users", alice.name, "--config", site.backend.configuration],
                environment: ["EDITOR=/bin/sh \(editor)", "TMPDIR=\(folder.path)"])
            #expect(outcome.status == 1 && outcome.errors.contains("line 3: not JSON"))
            let kept = try #require(outcome.errors.split(separator: " ").last.map(String.init)).trimmingCharacters(
                in: .whitespacesAndNewlines)
            #expect(try String(contentsOfFile: kept, encoding: .utf8).contains(alice.name))
            #expect(try mode(of: kept) == 0o600 && mode(of: String(kept.dropLast("/records.jsonl".count))) == 0o700)
            #expect(try site.call(.get, Path.register, as: alice).status == .ok)
            #expect(kept.hasPrefix(folder.path))
        }

        @Test func `an edit that the server was faster than is refused, and one that changes nothing leaves nothing`()
            throws
        {
            let site = try sharedSite()
            let alice = try site.addUser("alice")
            let meanwhile =
                #"echo other | "\#(Program.appBackend)" user passwd \#(alice.name) --config "\#(site.backend.configuration)""#
            let late = try edit(
                site, "users", alice.name, meanwhile + #" > /dev/null; sed -i 's/"version"/"note":1,"version"/' "$1""#)
            #expect(late.status == 1 && late.errors.contains("somebody else has changed the same record meanwhile"))
            for (script, status) in [("true", 0), (": > \"$1\"", 0), ("exit 3", 1)] as [(String, Int32)] {
                let outcome = try edit(site, "users", alice.name, script + "; ls -A $(dirname \"$1\") >&2")
                #expect(outcome.status == status)
                #expect(outcome.output == (status == 0 ? "nothing changed\n" : ""))
            }
            #expect(try edit(site, "owners", alice.name, "true").status == 1)
            #expect(try edit(site, "users", "nobody", "true").status == 1)
        }

        @Test func `an old password leaves the disk by compaction, and a line by hand is sealed`() throws {
            let site = try sharedSite()
            let alice = try site.addUser("alice")
            let old = try site.run("store", "show", "users", alice.name, "--secrets").output
            let hash = try #require(try JSONValue(parsing: Array(old.utf8.dropLast()))["passwordHash"]?.string)
            #expect(try site.run("user", "passwd", alice.name, input: site.secrets.make("new-") + "\n").status == 0)
            let report = try json(site.run("store", "compact", "users", "--json"))
            #expect(try #require(report["bytesBefore"]?.integer) > #require(report["bytesAfter"]?.integer))
            // 2: a file that another test's call had made has gone while it looked.
            var isFound: Int32 = 2
            _ = try Deadline.poll(seconds: 60) {
                isFound = try Program.run("/bin/grep", ["-rqF", hash, site.store]).status
                return isFound != 2
            }
            #expect(isFound == 1)
            let compacted = try site.run("store", "compact", "users")
            #expect(compacted.status == 0 && compacted.output.hasPrefix("users: "))
            #expect(try json(site.run("store", "seal", "--json"))["sealedLines"]?.integer == 0)
            #expect(try site.run("store", "compact", "nothing").status == 1)
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
            let devices = try run(["store", "show", "devices", alice.name])
            #expect(devices.status == 0 && devices.output.contains(alice.name))
            #expect(try mode(of: folder.path("store/users.jsonl")) == 0o600)
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
            #expect(try run(["import", cut, "--allow-cut"]).output == "imported 1 records, 0 were there already\n")
            #expect(try run(["import", folder.path("nowhere")]).status == 1)
            let output = folder.path("out.jsonl")
            #expect(try run(["export", "--output", output]).status == 0)
            #expect(try mode(of: output) == 0o600 && run(["export", "--output", output]).status == 1)
            #expect(try run(["import", output]).output == "imported 0 records, 1 were there already\n")
        }

        private func mode(of path: String) throws -> mode_t {
            var status = stat()
            try #require(stat(path, &status) == 0)
            return status.st_mode & 0o777
        }
    }
}
