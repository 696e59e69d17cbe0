// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Support
import Testing

extension WireTests {
    /// What an administrator sees at a terminal.
    struct TerminalStories {
        @Test func `an operator at a terminal sees how far long work has come, and a script does not`() throws {
            let site = try sharedSite()
            _ = try site.addUser("alice")
            let folder = try ScratchFolder()
            let faults = try folder.makeFolder("faults")
            try folder.write("", to: "faults/haste")
            let environment = ["LD_PRELOAD=\(try FaultSite.library(in: folder))", "FAULTS=\(faults)"]
            let arguments = ["store", "verify", "--config", site.backend.configuration]
            let script = try Program.run(Program.appBackend, arguments, environment: environment)
            #expect(script.status == 0 && script.errors.isEmpty && script.output.contains("The store is whole"))
            let terminal = try PseudoTerminal()
            let process = try ChildProcess(
                Program.appBackend, arguments, environment: environment, input: .terminal(terminal))
            defer { process.stop(seconds: 0) }
            // A terminal holds only so much unread output.
            try #require(terminal.shows("The store is whole", seconds: 60))
            #expect(process.wait(seconds: 60) == 0)
            #expect(terminal.text.contains("has read notifications"))
        }

        @Test(arguments: [("n", false), ("maybe", false), ("y", true)])
        func `an operator at a terminal is asked before a user is removed`(answer: String, isRemoved: Bool) throws {
            let site = try sharedSite()
            let alice = try site.addUser("alice")
            let outcome = try typed(["user", "remove", alice.name], at: site) { terminal in
                #expect(terminal.shows("(y or n)? ", seconds: 60))
                terminal.type(answer + "\n")
            }
            #expect(outcome.said.contains("app-backend user disable \(alice.name)"))
            #expect((outcome.status == 0) == isRemoved && outcome.said.contains("removed \(alice.name)") == isRemoved)
            let users = try site.run("user", "list").output.split(separator: "\n")
            #expect(users.contains(Substring(alice.name)) != isRemoved)
        }

        @Test func `with --yes no question is asked`() throws {
            let site = try sharedSite()
            let alice = try site.addUser("alice")
            let outcome = try typed(["user", "remove", "--yes", alice.name], at: site) { _ in }
            #expect(outcome.status == 0 && !outcome.said.contains("(y or n)"))
        }

        @Test func `a person who types the name of the program alone reads the help`() throws {
            let terminal = try PseudoTerminal()
            let process = try ChildProcess(Program.appBackend, [], input: .terminal(terminal))
            defer { process.stop(seconds: 0) }
            #expect(terminal.shows("SUBCOMMANDS:", seconds: 60) && process.wait(seconds: 60) == 0)
            #expect(!terminal.text.contains("socket"))
        }

        private func typed(
            _ arguments: [String], at site: WireSite, _ body: (PseudoTerminal) throws -> Void
        ) throws -> (status: Int32?, said: String) {
            let terminal = try PseudoTerminal()
            let process = try ChildProcess(
                Program.appBackend, arguments + ["--config", site.backend.configuration], input: .terminal(terminal))
            defer { process.stop(seconds: 0) }
            try body(terminal)
            let status = process.wait(seconds: 60)
            return (status, terminal.text)
        }
    }
}
