// SPDX-License-Identifier: Apache-2.0
import CPlatform
import Foundation
import Glibc
import HTTP
import HTTPTypes
import Testing

@testable import FastCGI

/// The client that asks a responder one thing.
@Suite struct ProbeTests {
    private static func end(status: UInt8 = 0) -> [UInt8] { Wire.record(3, [0, 0, 0, 0, status, 0, 0, 0]) }

    private static func output(_ text: String, padding: Int = 0) -> [UInt8] {
        Wire.record(6, Array(text.utf8), padding: padding)
    }

    private static let whole =
        output("Status: 503 Service Unavailable\r\nA: b\r\n", padding: 7)
        + Wire.record(7, Array("a word of stderr".utf8))
        + output("\r\n{}") + Wire.record(6) + end()

    @Test func `a responder's answer is read whole`() throws {
        let body = [UInt8](repeating: UInt8(ascii: "x"), count: 200_000)
        let respond: @Sendable (Request) -> Response = { request in
            #expect(request.method == .get && request.path == "/health" && request.remoteAddress == "127.0.0.1")
            return Response(status: .serviceUnavailable, fields: [.retryAfter: "5"], body: body)
        }
        try TestServer.with(.small, respond) { server in
            let response = try #require(FastCGIProbe(.unix(path: server.path), timeoutSeconds: 60)).get("/health")
            #expect(response.status == .serviceUnavailable && response.fields[.retryAfter] == "5")
            #expect(response.body == body)
        }
    }

    @Test func `an answer may be cut anywhere`() throws {
        for cut in Self.whole.indices {
            var records = ProbeRecords()
            try records.take(Self.whole[..<cut])
            #expect(!records.isComplete)
            try records.take(Self.whole[cut...])
            #expect(records.isComplete)
            #expect(records.output == Array("Status: 503 Service Unavailable\r\nA: b\r\n\r\n{}".utf8))
        }
    }

    static let foreign: [[UInt8]] = [
        Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8), Wire.record(6, id: 2, [1]), Wire.record(11, [9]),
        end(status: 2), Wire.record(3, [0]), [UInt8](repeating: 0, count: 8), [UInt8](repeating: 255, count: 8),
    ]

    @Test(arguments: foreign) func `bytes that no responder sends are refused`(bytes: [UInt8]) {
        #expect(throws: FastCGIProbe.Failure.notFastCGI) {
            var records = ProbeRecords()
            try records.take(bytes[...])
        }
    }

    @Test func `an answer without end is given up`() {
        #expect(throws: FastCGIProbe.Failure.tooLarge) {
            var records = ProbeRecords()
            let part = Wire.record(6, [UInt8](repeating: 0, count: 65_000))
            while true { try records.take(part[...]) }
        }
    }

    /// What the peer sends before it closes the connection.
    static let answers: [([UInt8], FastCGIProbe.Failure)] = [
        ([], .hungUp), (Array(whole.dropLast()), .hungUp), (output("no header") + end(), .notFastCGI),
        (output("Status: abc\r\n\r\n") + end(), .notFastCGI), (output("no field\r\n\r\n") + end(), .notFastCGI),
        (output("Status: 99999999999999999999\r\n\r\n") + end(), .notFastCGI), (end(), .notFastCGI),
    ]

    @Test(arguments: answers) func `half an answer is an error`(bytes: [UInt8], failure: FastCGIProbe.Failure) throws {
        let listener = try Listener.open(.tcp(host: "127.0.0.1", port: 0))
        let number = listener.descriptor.number
        _ = fcntl(number, F_SETFL, 0)
        try PlatformThread.start { [listener] in
            // Close-on-exec: what a child of another test kept open would never end.
            let connection = platform_accept(listener.descriptor.number)
            var request = [UInt8](repeating: 0, count: 4096)
            _ = recv(connection, &request, request.count, 0)
            _ = send(connection, bytes, bytes.count, 0)
            close(connection)
        }
        let port = try #require(listener.port)
        let probe = try #require(FastCGIProbe(.tcp(host: "127.0.0.1", port: port), timeoutSeconds: 60))
        #expect(throws: failure) { try probe.get("/") }
    }

    @Test func `who takes a connection and says nothing is not waited for`() throws {
        let listener = try Listener.open(.tcp(host: "127.0.0.1", port: 0))
        let port = try #require(listener.port)
        let probe = try #require(FastCGIProbe(.tcp(host: "127.0.0.1", port: port), timeoutSeconds: 0))
        #expect(throws: FastCGIProbe.Failure.timedOut) { try probe.get("/") }
    }

    @Test func `no socket, a plain file and a socket without a listener are told apart`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "probe-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let missing = try #require(FastCGIProbe(.unix(path: folder.appending(path: "none").path)))
        #expect(throws: FastCGIProbe.Failure.missing) { try missing.get("/") }
        let file = folder.appending(path: "file")
        try Data().write(to: file)
        let plain = try #require(FastCGIProbe(.unix(path: file.path)))
        #expect(throws: FastCGIProbe.Failure.refused) { try plain.get("/") }
        #expect(FastCGIProbe(.inherited) == nil)
    }
}
