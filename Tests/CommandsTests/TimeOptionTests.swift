// SPDX-License-Identifier: Apache-2.0
import Server
import Testing
import Text

@testable import Commands

/// Times in commands, as RFC 3339 spells them.
struct TimeOptionTests {
    /// In UTC, without its zone.
    private static let soon = (Site.now() + 3_600).text.dropLast()

    @Test(arguments: ["Z", "z", ".5Z", "+00:00", ".1234567-00:00", "+00:30"])
    func `all spellings of a moment are taken`(zone: String) throws {
        let time = "\(Self.soon)\(zone)"
        #expect(throws: Never.self) { try SendCommand.parse(["--to", "alice", "--at", time, "Hi"]) }
        #expect(throws: Never.self) { try MessageCommand.List.parse(["--before", time]) }
        #expect(throws: Never.self) { try UserChangeCommand.parse(["alice", "--expires", time]) }
    }

    @Test(arguments: ["", " ", ".Z", "+24:00"])
    func `what names no moment is refused`(zone: String) throws {
        let time = "\(Self.soon)\(zone)"
        #expect(throws: (any Error).self) { try SendCommand.parse(["--to", "alice", "--at", time, "Hi"]) }
        #expect(throws: (any Error).self) { try MessageCommand.List.parse(["--before", time]) }
        #expect(throws: (any Error).self) { try UserChangeCommand.parse(["alice", "--expires", time]) }
    }
}
