// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Commands

/// What commands read from a terminal or a pipe, and what they write to one.
struct TerminalTests {
    @Test(
        arguments: [
            ("password", "password"), ("\u{FEFF}pässwörd", "pässwörd"), ("", nil), ("\u{FEFF}", nil),
            (" \u{FEFF}", " \u{FEFF}"),
        ] as [(String, String?)])
    func `a byte order mark is no part of a password`(line: String, password: String?) throws {
        #expect(try Terminal.text("The password", of: Array(line.utf8)) == password)
    }

    @Test func `a password that is not UTF-8 is named as such`() {
        let error = #expect(throws: CommandError.self) {
            try Terminal.text("The password", of: [UInt8(ascii: "p"), 0xE4])
        }
        #expect(error?.description.hasPrefix("The password is not UTF-8: ") == true)
    }

    @Test(arguments: [
        "\u{1B}[31m", "\u{9B}31m", "\u{9D}0;title", "\u{202E}gnp.exe", "a\nb", "a\u{85}b", "a\u{2028}b", "a\u{2029}b",
    ])
    func `a cell of a table makes no line, and no terminal obeys it`(cell: String) throws {
        let lines = TextTable.lines([[cell, "1"], ["plain", "2"]], textColumns: [0])
        let first = try #require(lines.first)
        #expect(lines.count == 2 && first.contains("?") && !first.contains { $0.isNewline })
        #expect(first.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) })
        #expect(!first.unicodeScalars.contains("\u{202E}"))
    }
}
