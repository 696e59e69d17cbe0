// SPDX-License-Identifier: Apache-2.0
import Testing
import Text

struct ValidUTF8Tests {
    @Test(arguments: [
        "", "a", "ä€𝄞", "\u{0}", "\u{FEFF}a", "e\u{301}", "\u{FFFD}", "\u{10FFFF}", String(repeating: "€", count: 99),
    ])
    func `both ways read what is UTF-8`(text: String) {
        let bytes = Array(text.utf8)
        #expect(String(validUTF8: bytes).map { Array($0.utf8) } == bytes)
        #expect(String(repairingUTF8: bytes).map { Array($0.utf8) } == bytes)
    }

    @Test(
        arguments: [
            [0xFF], [0xC3], [0x61, 0xC3], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0x80],
            [0xEF, 0xBF], [0xEF, 0xBF, 0xBD, 0xFF], [0xE2, 0x82], [0xF8, 0x88, 0x80, 0x80, 0x80],
        ] as [[UInt8]])
    func `neither way reads anything else`(bytes: [UInt8]) {
        #expect(String(validUTF8: bytes) == nil)
        #expect(String(repairingUTF8: bytes) == nil)
    }
}
