// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The server's end of one connection, in the hands of a test.
final class HTTPConnection {
    private let descriptor: Int32
    private var isOpen = true

    struct Broken: Error {}

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        // A client that never sends must not keep the test waiting without end.
        var limit = timeval(tv_sec: Patience.seconds, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { end() }

    /// Reads a request with a body of so many bytes.
    func readRequest(bodyBytes: Int) throws {
        var head: [UInt8] = []
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) { head.append(try readByte()) }
        for _ in 0..<bodyBytes { _ = try readByte() }
    }

    /// Everything until the client ends the connection.
    func readToEnd() -> String {
        var bytes: [UInt8] = []
        while let byte = try? readByte() { bytes.append(byte) }
        return String(decoding: bytes, as: UTF8.self)
    }

    func readByte() throws -> UInt8 {
        var byte: UInt8 = 0
        while true {
            let count = read(descriptor, &byte, 1)
            if count == 1 { return byte }
            // A process that was stopped goes on here (signal(7)).
            guard count < 0, errno == EINTR else { throw Broken() }
        }
    }

    func write(_ text: String) throws {
        let bytes = Array(text.utf8)
        guard send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else { throw Broken() }
    }

    func end() {
        if isOpen { close(descriptor) }
        isOpen = false
    }
}
