// SPDX-License-Identifier: Apache-2.0

/// Both directions of one FastCGI request as its client sees it: the records of a question, and reading those of the
/// answer (FastCGI 1.0 sections 3 to 5).
struct ProbeRecords {
    private static let requestID: UInt16 = 1
    private static let responderRole: UInt8 = 1

    /// What came on standard output.
    private(set) var output: [UInt8] = []
    /// Whether END_REQUEST was there.
    private(set) var isComplete = false
    private var pending: [UInt8] = []

    /// A `GET` without a body, on a connection that the responder closes.
    static func request(_ path: String) -> [UInt8] {
        let parameters = [
            ("REQUEST_METHOD", "GET"), ("REQUEST_URI", path), ("REQUEST_SCHEME", "https"),
            ("SERVER_PROTOCOL", "HTTP/1.1"), ("HTTP_HOST", "localhost"), ("REMOTE_ADDR", "127.0.0.1"),
        ].flatMap { pair($0, $1) }
        return record(RecordHeader.Kind.beginRequest, [0, responderRole, 0, 0, 0, 0, 0, 0])
            + record(RecordHeader.Kind.parameters, parameters) + record(RecordHeader.Kind.parameters, [])
            + record(RecordHeader.Kind.standardInput, [])
    }

    /// Takes bytes as they come.
    /// - Throws: `notFastCGI`, `tooLarge`.
    mutating func take(_ bytes: ArraySlice<UInt8>) throws(FastCGIProbe.Failure) {
        pending += bytes
        while !isComplete, let header = RecordHeader(pending.span, at: 0) {
            guard header.version == 1, header.requestID == Self.requestID else { throw .notFastCGI }
            guard pending.count >= header.recordLength else { return }
            let content = pending[RecordHeader.size...].prefix(header.contentLength)
            switch header.kind {
            case RecordHeader.Kind.standardOutput: output += content
            case RecordHeader.Kind.standardError: break
            // Its fifth byte is the protocol's status: 0, or why the request was not taken.
            case RecordHeader.Kind.endRequest where content.count == 8 && content.dropFirst(4).first == 0:
                isComplete = true
            default: throw .notFastCGI
            }
            guard output.count <= FastCGIProbe.maximumBytes else { throw .tooLarge }
            pending.removeFirst(header.recordLength)
        }
    }

    private static func record(_ kind: UInt8, _ content: [UInt8]) -> [UInt8] {
        let length = UInt16(truncatingIfNeeded: content.count)
        return [1, kind, 0, UInt8(requestID), UInt8(length >> 8), UInt8(length & 0xFF), 0, 0] + content
    }

    private static func pair(_ name: String, _ value: String) -> [UInt8] {
        length(name.utf8.count) + length(value.utf8.count) + Array(name.utf8) + Array(value.utf8)
    }

    /// One byte below 128, else four with the first bit set.
    private static func length(_ count: Int) -> [UInt8] {
        guard count > 127 else { return [UInt8(count)] }
        let bits = UInt32(truncatingIfNeeded: count) | 0x8000_0000
        return [UInt8(bits >> 24), UInt8(bits >> 16 & 0xFF), UInt8(bits >> 8 & 0xFF), UInt8(bits & 0xFF)]
    }
}
