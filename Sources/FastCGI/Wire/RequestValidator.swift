// SPDX-License-Identifier: Apache-2.0

/// Reads the records of one request before libfcgi does, and lets only a whole and harmless one pass.
///
/// libfcgi trusts its peer: it allocates whatever length a parameter declares and ends the process when that fails, and
/// it answers a FCGI_GET_VALUES record, also one in the middle of a body, into 64 bytes of stack without counting.
/// So it never reads from a connection; it gets the bytes that passed here.
struct RequestValidator {
    /// What is known after the bytes so far.
    enum Result: Equatable {
        /// Nothing wrong yet, more to come.
        case incomplete
        /// A whole request. The padding of its last record, which libfcgi does not read, lies behind `length`.
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
    private(set) var requestID: UInt16 = 0
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
