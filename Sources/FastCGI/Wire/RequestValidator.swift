// SPDX-License-Identifier: Apache-2.0

/// Reads the records of one request before libfcgi does, and lets only a whole and harmless one pass.
///
/// libfcgi's own reader trusts its peer: it allocates whatever length a parameter declares and ends the process when that
/// fails, and it answers a FCGI_GET_VALUES record, also one in the middle of a body, into 64 bytes of stack without
/// counting. So nothing of libfcgi reads from a connection; its streams get the bytes that passed here.
struct RequestValidator {
    /// What is known after the bytes so far.
    enum Result: Equatable {
        /// Nothing wrong yet, more to come.
        case incomplete
        /// A whole request. The padding of its last record comes after `length`.
        case complete(length: Int)
        /// Whole parameters of that length, then more body than the limit.
        case bodyTooLarge(headLength: Int)
        case invalid(RejectReason)
    }

    private enum Phase { case begin, parameters, body }

    private let limits: ServerLimits
    private var phase = Phase.begin
    /// The offset of the first record that was not whole at the last look.
    private var offset = 0
    private var requestID: UInt16 = 0
    private var lengths: ParameterLengthCheck
    private var parameterLength = 0
    private var headLength = 0
    private var bodyLength = 0

    init(limits: ServerLimits) {
        self.limits = limits
        lengths = ParameterLengthCheck(limits: limits)
    }

    /// Looks at a request's bytes.
    ///
    /// Goes on where the last look ended, so that a request which arrives byte by byte costs no more than its bytes.
    /// - Parameter bytes: all of the request so far: those of the last look and more.
    mutating func validate(_ bytes: Span<UInt8>) -> Result {
        do throws(RejectReason) {
            while let header = RecordHeader(bytes, at: offset) {
                if try exceedsBody(header) { return .bodyTooLarge(headLength: headLength) }
                guard bytes.count - offset >= header.recordLength else { return .incomplete }
                let isEnd = try pass(header, bytes)
                offset += header.recordLength
                if isEnd {
                    guard bytes.count == offset else { throw RejectReason.bytesAfterEnd }
                    return .complete(length: offset - header.paddingLength)
                }
            }
            return .incomplete
        } catch {
            return .invalid(error)
        }
    }

    /// Checks a header as soon as it is there, before its content is; says whether it is more body than the limit.
    private mutating func exceedsBody(_ header: RecordHeader) throws(RejectReason) -> Bool {
        guard header.version == 1 else { throw .version }
        switch phase {
        case .begin:
            guard header.kind == RecordHeader.Kind.beginRequest, header.contentLength == 8, header.requestID != 0
            else { throw .notARequest }
        case .parameters:
            guard header.requestID == requestID else { throw .foreignRequest }
            guard header.kind == RecordHeader.Kind.parameters else { throw .recordType }
            guard parameterLength + header.contentLength <= limits.parameterBytes else { throw .parametersTooLong }
        case .body:
            guard header.requestID == requestID else { throw .foreignRequest }
            guard header.kind == RecordHeader.Kind.standardInput else { throw .recordType }
            if bodyLength + header.contentLength > limits.bodyBytes { return true }
        }
        guard offset + header.recordLength <= limits.requestBytes else { throw .tooMuchFraming }
        return false
    }

    /// Takes note of one whole record; says whether the request ends with it.
    private mutating func pass(_ header: RecordHeader, _ bytes: Span<UInt8>) throws(RejectReason) -> Bool {
        let start = offset + RecordHeader.size
        switch phase {
        case .begin:
            guard bytes[start] == 0, bytes[start + 1] == 1 else { throw .role }
            requestID = header.requestID
            phase = .parameters
        case .parameters where header.contentLength == 0:
            guard lengths.isBetweenPairs else { throw .parametersCutShort }
            headLength = offset + header.recordLength
            phase = .body
        case .parameters:
            parameterLength += header.contentLength
            try lengths.check(bytes.extracting(start..<start + header.contentLength))
        case .body:
            bodyLength += header.contentLength
            return header.contentLength == 0
        }
        return false
    }
}

/// Follows the name-value pairs of a parameter stream through its records and checks every length before memory is
/// allocated for it (FastCGI 1.0 section 3.4). Keeps no bytes.
struct ParameterLengthCheck {
    private enum Part { case name, value }

    private let limits: ServerLimits
    private var part = Part.name
    /// Bytes of a four-byte length that are still to come, and what the ones before them said.
    private var lengthBytesMissing = 0
    private var length = 0
    private var nameLength = 0
    /// Bytes of the current name and value that are still to come.
    private var contentMissing = 0
    private var pairs = 0

    init(limits: ServerLimits) {
        self.limits = limits
    }

    /// Whether the stream may end here: between two pairs.
    var isBetweenPairs: Bool { part == .name && lengthBytesMissing == 0 && contentMissing == 0 }

    /// Follows the content of one more record.
    /// - Throws: the reason, as soon as a declared length or number is above its limit.
    mutating func check(_ content: Span<UInt8>) throws(RejectReason) {
        var index = 0
        while index < content.count {
            if contentMissing > 0 {
                let step = min(contentMissing, content.count - index)
                contentMissing -= step
                index += step
            } else {
                try take(lengthByte: content[index])
                index += 1
            }
        }
    }

    /// One byte of a length: below 0x80 it is the length, else the first of four without its top bit.
    private mutating func take(lengthByte byte: UInt8) throws(RejectReason) {
        if lengthBytesMissing > 0 {
            length = length << 8 | Int(byte)
            lengthBytesMissing -= 1
        } else if byte & 0x80 != 0 {
            length = Int(byte & 0x7F)
            lengthBytesMissing = 3
        } else {
            length = Int(byte)
        }
        if lengthBytesMissing == 0 { try accept() }
    }

    private mutating func accept() throws(RejectReason) {
        switch part {
        case .name:
            guard length <= limits.parameterNameBytes else { throw .nameTooLong }
            nameLength = length
            part = .value
        case .value:
            guard length <= limits.parameterValueBytes else { throw .valueTooLong }
            guard pairs < limits.parameters else { throw .tooManyParameters }
            pairs += 1
            contentMissing = nameLength + length
            part = .name
        }
    }
}

/// The eight bytes before every piece of content (FastCGI 1.0 section 3.3).
struct RecordHeader: Equatable {
    /// The types of a request's records, and of an answer's.
    enum Kind {
        static let beginRequest: UInt8 = 1
        static let endRequest: UInt8 = 3
        static let parameters: UInt8 = 4
        static let standardInput: UInt8 = 5
        static let standardOutput: UInt8 = 6
        static let standardError: UInt8 = 7
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
}
