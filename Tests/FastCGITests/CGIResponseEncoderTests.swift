// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import Testing

@testable import FastCGI

@Suite struct CGIResponseEncoderTests {
    private func text(_ response: Response, withoutBody: Bool = false) throws -> String {
        var bytes = CGIResponseEncoder()
        try bytes.write(response, withoutBody: withoutBody)
        return String(decoding: bytes.bytes, as: UTF8.self)
    }

    private static let sniff = "X-Content-Type-Options: nosniff\r\n\r\n"
    private static let hi: [UInt8] = Array("hi".utf8)

    @Test(arguments: [
        (Response(), "Status: 200 OK\r\nContent-Length: 0\r\n" + sniff),
        (
            Response(body: hi),
            "Status: 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: 2\r\n" + sniff + "hi"
        ),
        (
            Response(fields: [.contentType: "text/plain", .contentLength: "7"], body: hi),
            "Status: 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n" + sniff + "hi"
        ),
        (Response(status: .noContent), "Status: 204 No Content\r\n" + sniff),
        (Response(status: .notModified, body: hi), "Status: 304 Not Modified\r\n" + sniff),
        (Response(status: .init(code: 299)), "Status: 299 \r\nContent-Length: 0\r\n" + sniff),
        (
            Response(fields: [.init("Status")!: "200 OK"]), "Status: 200 OK\r\nContent-Length: 0\r\n" + sniff
        ),
    ])
    func `an answer has its lines in order`(_ response: Response, _ expected: String) throws {
        #expect(try text(response) == expected)
    }

    @Test func `an answer to HEAD has the length and no body`() throws {
        let whole = try text(Response(body: Self.hi))
        #expect(try text(Response(body: Self.hi), withoutBody: true) == String(whole.dropLast(2)))
    }

    @Test(arguments: [
        ("a\r", "b"), ("a", "b\r\nSet-Cookie: c"), ("a", "\0"), ("a", "b\n"), ("", "b"), (":status", "b"),
    ])
    func `a field that would leave its line is not written`(_ name: String, _ value: String) {
        var bytes = CGIResponseEncoder()
        #expect(throws: CGIResponseEncoder.IllegalField()) { try bytes.write(name: name, value: value) }
        #expect(bytes.bytes.isEmpty)
    }

    @Test func `a second answer has nothing of the first`() throws {
        var bytes = CGIResponseEncoder()
        try bytes.write(Response(body: [UInt8](repeating: 65, count: 1_000_000)))
        try bytes.write(Response())
        #expect(String(decoding: bytes.bytes, as: UTF8.self) == "Status: 200 OK\r\nContent-Length: 0\r\n" + Self.sniff)
    }
}
