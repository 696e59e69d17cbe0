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
    }
}
