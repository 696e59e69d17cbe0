// SPDX-License-Identifier: Apache-2.0
import Foundation
import Support
import Testing

@testable import AppBackend

struct BasicCredentialsTests {
    private func header(_ pair: String) -> String { "Basic " + Data(pair.utf8).base64EncodedString() }

    @Test(arguments: [
        ("alice:secret", "alice", "secret"), ("alice:", "alice", ""), (":secret", "", "secret"),
        ("alice:a:b:c", "alice", "a:b:c"), ("zoë:pässwörd", "zoë", "pässwörd"),
        ("alice:\u{301}secret", "alice", "\u{301}secret"),
    ])
    func `the name ends at the first colon and both are UTF-8`(pair: String, name: String, password: String) throws {
        let credentials = try #require(BasicCredentials(authorization: header(pair)))
        #expect(credentials.name == name)
        #expect(credentials.password == password)
    }

    @Test func `the scheme is compared without case and may be followed by several blanks`() throws {
        let encoded = Data("alice:secret".utf8).base64EncodedString()
        #expect(BasicCredentials(authorization: "bAsIc   " + encoded)?.name == "alice")
    }

    @Test(arguments: [
        "", "Basic", "Basic ", "Basic %%%", "Bearer YWxpY2U6c2VjcmV0", "Basic YWxpY2U=", "YWxpY2U6c2VjcmV0",
        // The last character of these has bits that belong to no byte.
        "Basic YWxpY2U6eB==", "Basic YWxpY2U6eHl=",
        "Basic YWxpY2U6c2VjcmV0x", "Basic " + Data([0xFF, 0x3A, 0x41]).base64EncodedString(),
        "Basic " + Data("alice:a\0b".utf8).base64EncodedString(),
        "Basic " + Data("alice:a\nb".utf8).base64EncodedString(),
        "Basic " + String(repeating: "A", count: 4096),
    ])
    func `anything else is no credentials`(value: String) {
        #expect(BasicCredentials(authorization: value) == nil)
    }

    @Test func `credentials never print themselves`() throws {
        let credentials = try #require(BasicCredentials(authorization: header("alice:topsecret")))
        var dumped = ""
        dump(credentials, to: &dumped)
        for text in ["\(credentials)", String(reflecting: credentials), dumped] {
            #expect(!text.contains("topsecret"))
        }
    }

    @Test func `no mutation of a header ends the process`() {
        var random = SeededRandom(seed: 1)
        let good = Array(header("alice:correct horse").utf8)
        for _ in 0..<20_000 {
            var bytes = good
            for _ in 0...Int.random(in: 0..<4, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                bytes[index] = UInt8.random(in: 0...255, using: &random)
            }
            let text = String(decoding: bytes.prefix(Int.random(in: 0...bytes.count, using: &random)), as: UTF8.self)
            if let credentials = BasicCredentials(authorization: text) { #expect(!credentials.name.contains(":")) }
        }
    }
}
