// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Processes
import Testing

extension WireTests {
    /// What an administrator sees, types and interrupts at a terminal.
    struct TerminalStories {
        /// One who has begun `store edit` there.
        private struct Editing {
            let folder: ScratchFolder
            let terminal: PseudoTerminal
            let process: ChildProcess

            /// - Parameter script: the editor: lines of shell; the file is its `$1`.
            init(_ site: WireSite, _ table: String, _ key: String, _ script: String) throws {
                folder = try ScratchFolder()
                terminal = try PseudoTerminal()
                let editor = try folder.write("#!/bin/sh\n\(script)\n", to: "editor")
                process = try ChildProcess(
                    Program.appBackend, ["store", "edit", table, key, "--config", site.backend.configuration],
                    environment: ["EDITOR=/bin/sh \(editor)", "TMPDIR=\(folder.path)"], input: .terminal(terminal))
            }

            /// Whether the text, or its folder, is still there.
            var isTextKept: Bool {
                let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
                return names?.contains { $0.hasPrefix("app-backend-edit-") } ?? false
            }
        }

        @Test func `what is typed into an editor at a terminal counts, and an interrupt there is the editor's own`()
            throws
        {
            let site = try sharedSite()
            let alice = try site.addUser("alice")
            let id = try site.sendSecure(site.secrets.make("before "), from: alice, to: alice)
            let after = site.secrets.make("after ")
            let editing = try Editing(
                site, "notifications", alice.name,
                #"""
                test -t 0 && test -t 1 && test -t 2 || exit 9
                trap 'echo interrupted' INT
                echo editing
                until read -r text; do :; done
                sed -i 's/"payload":"[^"]*"/"payload":"'"$text"'"/' "$1"
                """#)
            defer { editing.process.stop(seconds: 0) }
            try #require(editing.terminal.shows("editing", seconds: 60))
            editing.terminal.type(PseudoTerminal.interrupt)
            try #require(editing.terminal.shows("interrupted", seconds: 60))
            editing.terminal.type(after + "\n")
            #expect(editing.process.wait(seconds: 60) == 0)
            #expect(editing.terminal.text.contains("changed 1 records") && !editing.isTextKept)
            #expect(try site.readSecure(id, as: alice) == after)
        }

        /// What is answered to the question, how often the editor runs then, and how the command ends.
        @Test(arguments: [("\n", 2, 0), ("y\n", 2, 0), ("n\n", 1, 1)] as [(String, Int, Int32)])
        func `whoever has made a mistake is asked whether to edit again`(
            answer: String, rounds: Int, status: Int32
        ) throws {
            let site = try sharedSite()
            let alice = try site.addUser("alice")
            let editing = try Editing(
                site, "users", alice.name,
                #"""
                echo round >> "$TMPDIR/rounds"
                if grep -q '^\[' "$1"; then sed -i 's/^\[/{"note":1,/' "$1"; else sed -i 's/^{/[/' "$1"; fi
                """#)
            defer { editing.process.stop(seconds: 0) }
            try #require(editing.terminal.shows("Edit again? [Y/n]", seconds: 60))
            editing.terminal.type(answer)
            #expect(editing.process.wait(seconds: 60) == status)
            let said = editing.terminal.text
            #expect(said.contains("line 3: not JSON"))
            #expect(said.contains("changed 1 records") == (status == 0))
            #expect(said.contains("your text is in") == (status != 0) && editing.isTextKept == (status != 0))
            let ran = try String(contentsOfFile: editing.folder.path("rounds"), encoding: .utf8)
            #expect(ran == String(repeating: "round\n", count: rounds))
        }

        @Test func `whoever sits at a terminal sees how far long work has come, and a script does not`() throws {
            let site = try sharedSite()
            _ = try site.addUser("alice")
            let folder = try ScratchFolder()
            let faults = try folder.makeFolder("faults")
            try folder.write("", to: "faults/haste")
            let environment = ["LD_PRELOAD=\(try FaultSite.library(in: folder))", "FAULTS=\(faults)"]
            let arguments = ["store", "stats", "--config", site.backend.configuration]
            let script = try Program.run(Program.appBackend, arguments, environment: environment)
            #expect(script.status == 0 && script.errors.isEmpty && script.output.contains("in all: "))
            let terminal = try PseudoTerminal()
            let process = try ChildProcess(
                Program.appBackend, arguments, environment: environment, input: .terminal(terminal))
            defer { process.stop(seconds: 0) }
            // A terminal holds only so much that nobody has read.
            try #require(terminal.shows("in all: ", seconds: 60))
            #expect(process.wait(seconds: 60) == 0)
            #expect(terminal.text.contains("counted 1 files, is at "))
        }
    }
}
