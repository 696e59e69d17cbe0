// SPDX-License-Identifier: Apache-2.0
import JSON
import Support
import Testing

@testable import FileStore

@Suite struct LineTests {
    private let schema = TableSchema(name: "t", key: "owner") { _ in true }

    private func decode(_ text: String) throws -> Line {
        try Array(text.utf8).withUnsafeBufferPointer { try LineCodec.decode($0, schema) }
    }

    @Test(
        arguments: [
            ("", 0), ("123456789", 0xCBF4_3926), ("The quick brown fox jumps over the lazy dog", 0x414F_A339),
            ("a", 0xE8B7_BE43),
        ] as [(String, UInt32)])
    func `the checksum is that of the catalogue`(text: String, checksum: UInt32) {
        #expect(CRC32.checksum(Array(text.utf8)) == checksum)
    }

    /// The vectors of the reference implementation: key 00…0f, input of n bytes 00, 01, … n-1.
    @Test func `a line that was written is sealed, and a changed byte unseals or breaks it`() throws {
        let bytes = LineCodec.encode {
            $0.member("id", 7)
            $0.member("owner", "al\"ice")
            $0.member("text", "grüße\n")
        }
        #expect(bytes.last == 0x0A)
        #expect(bytes.count { $0 == 0x0A } == 1)
        let line = try decode(String(decoding: bytes.dropLast(), as: UTF8.self))
        #expect(line.hasValidChecksum)
        #expect(line.key == "al\"ice")
        #expect(line.id == .number("7"))
        for index in 0..<(bytes.count - 1) {
            for bit in 0..<8 {
                var changed = Array(bytes.dropLast())
                changed[index] ^= 1 << UInt8(bit)
                let hasValidChecksum = changed.withUnsafeBufferPointer {
                    try? LineCodec.decode($0, schema).hasValidChecksum
                }
                #expect(hasValidChecksum != true)
            }
        }
    }

    @Test func `no beginning of a line is a line`() throws {
        let line = LineCodec.encode {
            $0.member("id", "a")
            $0.member("owner", "o")
        }
        for length in 0..<(line.count - 1) {
            #expect(throws: LineFault.self) {
                try line.prefix(length).withUnsafeBufferPointer { try LineCodec.decode($0, schema) }
            }
        }
    }

    @Test(arguments: [
        "[]", "{}", "1", #"{"id":1}"#, #"{"owner":"a"}"#, #"{"id":1,"owner":2}"#, #"{"id":1,"owner":"a","op":3}"#,
        #"{"id":1,"id":2,"owner":"a"}"#, "{\"id\":1,\"owner\":\"a\"}\u{0}",
    ])
    func `lines without id and key are refused`(text: String) {
        #expect(throws: LineFault.self) { try decode(text) }
    }

    @Test(arguments: [
        (#"{"id":7,"owner":"al","x":1}"#, true), (#"{"id":7,"op":"read","owner":"al","x":1}"#, true),
        (#"{"id":8,"owner":"al","x":1}"#, false), (#"{"id":77,"owner":"al","x":1}"#, false),
        (#"{"id":7,"owner":"all","x":1}"#, false), (#"{"id":7,"op":"read","owner":"bo","x":1}"#, false),
        (#"{"id":7,"owner":"a\u006c","x":1}"#, true), (#"{ "id":8,"owner":"bo"}"#, true),
        (#"{"id": 8,"owner":"bo"}"#, true), (#"{"owner":"bo","id":8}"#, true), (#"{"id":7,"x":1,"owner":"al"}"#, true),
        (#"{"id":7,"owner":"bo"}"#, true), (#"{"id":8}"#, true), (#"{"id":"#, true), ("", true),
        (#"{"id":7,"owner":"a"#, true),
        (#"{"id":7.0,"owner":"bo","x":1}"#, true), (#"{"id":"7","owner":"al","x":1}"#, false),
    ])
    func `only lines that surely belong to others are passed over`(line: String, passes: Bool) {
        let probe = LinePrefilter(schema, key: "al", id: .number("7"))
        let finding = Array(line.utf8).withUnsafeBufferPointer { probe.examine($0) }
        if case .other = finding { #expect(!passes) } else { #expect(passes) }
    }

    @Test func `random bytes are never a trap`() {
        var random = SeededRandom(seed: 2)
        let alphabet = Array(#"{}[]",:\u0123456789-+.eEtrufalsn idowner"#.utf8) + [0, 10, 0x80, 0xFF]
        let probe = LinePrefilter(schema, key: "al", id: nil)
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                alphabet.randomElement(using: &random) ?? 0
            }
            bytes.withUnsafeBufferPointer {
                _ = probe.examine($0)
                #expect((try? LineCodec.decode($0, schema))?.hasValidChecksum != true)
            }
        }
    }
}
