// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTP
import HTTPTypes
import System

/// A FastCGI client: asks a responder one thing, as a web server on this host would. curl speaks no FastCGI.
package struct FastCGIProbe: Sendable {
    /// Why there was no answer.
    package enum Failure: Error, Equatable, Sendable {
        /// There is nothing at that path.
        case missing
        /// This process may not connect.
        case forbidden
        /// No process listens.
        case refused
        /// No answer came before the deadline.
        case timedOut
        /// The connection ended before the answer did.
        case hungUp
        /// What answers does not speak FastCGI, or not as a responder.
        case notFastCGI
        /// The answer is longer than `maximumBytes`.
        case tooLarge
        case system(String)
    }

    /// The longest answer that is read, in bytes.
    static let maximumBytes = 1 << 20

    private let address: SocketAddress
    private let timeoutSeconds: UInt16

    /// - Parameters:
    ///   - address: a path or a TCP address.
    ///   - timeoutSeconds: for the connection and the whole answer.
    /// - Returns: nil for the inherited socket, which has no address.
    package init?(_ address: ListenAddress, timeoutSeconds: UInt16 = 5) {
        let made: SocketAddress? =
            switch address {
            case .inherited: nil
            case .unix(let path): SocketAddress(path: path)
            case .tcp(let host, let port): SocketAddress(host: host, port: port)
            }
        guard let made else { return nil }
        self.address = made
        self.timeoutSeconds = timeoutSeconds
    }

    /// - Parameter descriptor: a listening socket, whose own address is asked.
    /// - Returns: nil, when it is no such socket.
    package init?(listeningOn descriptor: Int32, timeoutSeconds: UInt16 = 5) {
        guard Listener.option(descriptor, SO_ACCEPTCONN) == 1, let address = SocketAddress(localOf: descriptor) else {
            return nil
        }
        (self.address, self.timeoutSeconds) = (address, timeoutSeconds)
    }

    /// Asks `GET path` as a client on this host, on a connection of its own.
    /// - Throws: `Failure`.
    package func get(_ path: String) throws(Failure) -> Response {
        let deadline = Deadline.now.milliseconds + Int64(timeoutSeconds) * 1000
        let connection = try ProbeConnection(to: address, deadline: deadline)
        try connection.send(ProbeRecords.request(path))
        var reader = ProbeRecords()
        while !reader.isComplete {
            let bytes = try connection.receive()
            guard !bytes.isEmpty else { throw .hungUp }
            try reader.take(bytes)
        }
        return try Self.response(reader.output)
    }

    /// CGI's form of an answer (RFC 3875 section 6): fields, `Status` among them, an empty line, the body.
    private static func response(_ output: [UInt8]) throws(Failure) -> Response {
        var response = Response()
        var rest = output[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            let line = rest[..<end].last == UInt8(ascii: "\r") ? rest[..<end].dropLast() : rest[..<end]
            rest = rest[(end + 1)...]
            if line.isEmpty {
                response.body = Array(rest)
                return response
            }
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
                let name = HTTPField.Name(String(decoding: line[..<colon], as: UTF8.self))
            else { throw .notFastCGI }
            let value = String(decoding: line[(colon + 1)...].drop { $0 == 0x20 }, as: UTF8.self)
            if name.canonicalName == "status" {
                guard let code = Int(value.prefix(3)), (200...599).contains(code) else { throw .notFastCGI }
                response.status = HTTPResponse.Status(code: code)
            } else {
                response.fields.append(HTTPField(name: name, value: value))
            }
        }
        throw .notFastCGI
    }
}
