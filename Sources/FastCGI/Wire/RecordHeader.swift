// SPDX-License-Identifier: Apache-2.0

/// The eight bytes before every piece of content (FastCGI 1.0 section 3.3).
struct RecordHeader: Equatable {
    /// The types that a web server may send to a responder.
    enum Kind {
        static let beginRequest: UInt8 = 1
        static let parameters: UInt8 = 4
        static let standardInput: UInt8 = 5
    }

    /// Bytes of a header.
    static let size = 8

    let version: UInt8
    let kind: UInt8
    let requestID: UInt16
    let contentLength: Int
    let paddingLength: Int

    /// Bytes of the whole record; at most 65,798.
    var recordLength: Int { Self.size + contentLength + paddingLength }

    /// Reads the header that begins at an offset; nil when fewer than eight bytes follow it.
    init?(_ bytes: Span<UInt8>, at offset: Int) {
        guard offset >= 0, bytes.count - offset >= Self.size else { return nil }
        version = bytes[offset]
        kind = bytes[offset + 1]
        requestID = UInt16(bytes[offset + 2]) << 8 | UInt16(bytes[offset + 3])
        contentLength = Int(bytes[offset + 4]) << 8 | Int(bytes[offset + 5])
        paddingLength = Int(bytes[offset + 6])
    }

    /// The end of a body, for a request that is answered without reading the rest of it.
    static func endOfInput(requestID: UInt16) -> [UInt8] {
        [1, Kind.standardInput, UInt8(requestID >> 8), UInt8(requestID & 0xFF), 0, 0, 0, 0]
    }
}
