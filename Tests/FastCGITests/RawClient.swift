// SPDX-License-Identifier: Apache-2.0
import CPlatform
import Glibc

/// Bytes of FastCGI records, written by hand: what a web server sends.
enum Wire {
    static func record(_ kind: UInt8, id: UInt16 = 1, _ content: [UInt8] = [], padding: Int = 0) -> [UInt8] {
        let length = UInt16(content.count)
        return [1, kind, UInt8(id >> 8), UInt8(id & 255), UInt8(length >> 8), UInt8(length & 255), UInt8(padding), 0]
            + content + [UInt8](repeating: 0, count: padding)
    }

    static func begin(id: UInt16 = 1, role: UInt8 = 1, keep: Bool = true) -> [UInt8] {
        record(1, id: id, [0, role, keep ? 1 : 0, 0, 0, 0, 0, 0])
    }

    static func length(_ count: Int) -> [UInt8] {
        count < 128 ? [UInt8(count)] : fourByteLength(UInt32(count) | 0x8000_0000)
    }

    static func fourByteLength(_ bits: UInt32) -> [UInt8] {
        [UInt8(bits >> 24), UInt8(bits >> 16 & 255), UInt8(bits >> 8 & 255), UInt8(bits & 255)]
    }

    static func pair(_ name: String, _ value: String) -> [UInt8] {
        length(name.utf8.count) + length(value.utf8.count) + Array(name.utf8) + Array(value.utf8)
    }

    static func parameters(_ pairs: [(String, String)], id: UInt16 = 1) -> [UInt8] {
        record(4, id: id, pairs.flatMap { pair($0.0, $0.1) }) + record(4, id: id)
    }

    /// A whole request as nginx sends it.
    static func request(
        _ method: String = "GET", _ uri: String = "/", _ more: [(String, String)] = [], body: [UInt8] = [],
        declared: String? = nil, keep: Bool = true
    ) -> [UInt8] {
        head(method, uri, more, declared: declared ?? (body.isEmpty ? "" : "\(body.count)"), keep: keep) + input(body)
    }

    static func head(
        _ method: String, _ uri: String, _ more: [(String, String)] = [], declared: String, keep: Bool = true
    ) -> [UInt8] {
        begin(keep: keep)
            + parameters([("REQUEST_METHOD", method), ("REQUEST_URI", uri), ("CONTENT_LENGTH", declared)] + more)
    }

    /// A body in records of at most 32 KiB, and its end.
    static func input(_ body: [UInt8]) -> [UInt8] {
        stride(from: 0, to: body.count, by: 32768).flatMap {
            record(5, Array(body[$0..<min($0 + 32768, body.count)]))
        } + record(5)
    }
}

/// What came back for one request.
struct RawAnswer: Equatable {
    var output: [UInt8] = []

    private var text: String { String(decoding: output, as: UTF8.self) }
    var status: String { String(text.prefix { $0 != "\r\n" }).replacing("Status: ", with: "") }
    var code: Int? { Int(status.prefix(3)) }
    var body: String { text.firstRange(of: "\r\n\r\n").map { String(text[$0.upperBound...]) } ?? "" }
    func has(_ line: String) -> Bool { text.split(separator: "\r\n").contains { $0 == line } }
}

/// A connection to a server under test. Every wait ends after a minute, so that a hung server fails its test.
final class RawClient {
    /// MSG_NOSIGNAL, an enum and a macro that Swift does not import.
    private static let noSignal: Int32 = 0x4000

    let number: Int32
    /// What came behind the last answer.
    private var bytes: [UInt8] = []

    init?(path: String) {
        number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { return nil }
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(number, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8).prefix($0.count - 1)) }
        let result = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                Self.again { connect(number, address, socklen_t(MemoryLayout<sockaddr_un>.size)) }
            }
        }
        if result != 0 { return nil }
    }

    /// Repeats an interrupted call: on a socket with a deadline it fails when the process was stopped (signal(7)).
    private static func again<Result: BinaryInteger>(_ call: () -> Result) -> Result {
        while true {
            let result = call()
            if result >= 0 || errno != EINTR { return result }
        }
    }

    deinit { close(number) }

    /// Sends all bytes; false when the server does not take them.
    @discardableResult func send(_ bytes: some Sequence<UInt8>) -> Bool {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes { bytes in
                Self.again { Glibc.send(number, bytes.baseAddress, bytes.count, Self.noSignal) }
            }
            guard sent > 0 else { return false }
            rest = rest.dropFirst(sent)
        }
        return true
    }

    func endSending() { shutdown(number, Int32(SHUT_WR)) }

    /// The next bytes; empty at the end, nil when nothing came in time or the connection broke.
    func receive(atMost count: Int = 65536) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: count)
        let got = Self.again { recv(number, &buffer, count, 0) }
        return got >= 0 ? Array(buffer.prefix(got)) : nil
    }

    /// Reads records until the end of the request; nil when the connection ends before it.
    func answer() -> RawAnswer? {
        var answer = RawAnswer()
        while true {
            while bytes.count >= 8 {
                let content = Int(bytes[4]) << 8 | Int(bytes[5])
                let whole = 8 + content + Int(bytes[6])
                guard bytes.count >= whole else { break }
                defer { bytes.removeFirst(whole) }
                if bytes[1] == 3 { return answer }
                if bytes[1] == 6 { answer.output += bytes[8..<8 + content] }
            }
            guard let more = receive(), !more.isEmpty else { return nil }
            bytes += more
        }
    }

    func exchange(_ request: [UInt8]) -> RawAnswer? {
        send(request) ? answer() : nil
    }

    /// Whether the server has closed the connection, now or within a minute.
    func isClosedByServer() -> Bool {
        while let bytes = receive() { if bytes.isEmpty { return true } }
        return errno == ECONNRESET
    }
}
