// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import FastCGI

@Suite struct RequestValidatorTests {
    private func result(_ bytes: [UInt8], _ limits: ServerLimits = ServerLimits()) -> RequestValidator.Result {
        var validator = RequestValidator(limits: limits)
        return validator.validate(bytes.span)
    }

    private static let whole: [[UInt8]] = [
        Wire.request(),
        Wire.request("POST", "/a?b=c", body: Array("hello".utf8)),
        Wire.request("GET", "/", [("HTTP_COOKIE", String(repeating: "x", count: 300))]),
        Wire.begin() + Wire.record(4) + Wire.record(5),
        Wire.begin(id: 0xFFFF) + Wire.parameters([("A", "")], id: 0xFFFF) + Wire.record(5, id: 0xFFFF),
        Wire.begin() + Wire.record(4, Wire.pair("A", "b"), padding: 255) + Wire.record(4, padding: 7) + Wire.record(5),
        Wire.begin() + Wire.record(4, Array(Wire.pair("AB", "cd").prefix(1)))
            + Wire.record(4, Array(Wire.pair("AB", "cd").dropFirst())) + Wire.record(4) + Wire.record(5),
    ]

    @Test(arguments: whole)
    func `a whole request passes however it is cut`(_ bytes: [UInt8]) {
        #expect(result(bytes) == .complete(length: bytes.count))
        for cut in 0..<bytes.count {
            var validator = RequestValidator(limits: ServerLimits())
            #expect(validator.validate(bytes.span.extracting(0..<cut)) == .incomplete)
            #expect(validator.validate(bytes.span) == .complete(length: bytes.count))
        }
        var validator = RequestValidator(limits: ServerLimits())
        for end in 1..<bytes.count { #expect(validator.validate(bytes.span.extracting(0..<end)) == .incomplete) }
        #expect(validator.validate(bytes.span) == .complete(length: bytes.count))
    }

    @Test func `the padding of the last record belongs to the request and is not handed on`() {
        let bytes = Wire.begin() + Wire.record(4) + Wire.record(5, padding: 8)
        #expect(result(bytes) == .complete(length: bytes.count - 8))
        #expect(result(bytes.dropLast()) == .incomplete)
    }

    private static func declaring(_ lengths: [UInt8]) -> [UInt8] { Wire.begin() + Wire.record(4, lengths) }

    private static let wrong: [(RejectReason, [UInt8])] = [
        (.version, [2] + Wire.begin().dropFirst()),
        (.notARequest, Wire.record(1, id: 0, [0, 1, 0, 0, 0, 0, 0, 0])),
        (.notARequest, Wire.record(1, [0, 1, 0])),
        (.notARequest, Wire.record(4, Wire.pair("A", "b"))),
        (.notARequest, Wire.record(9, id: 0, Wire.pair("FCGI_MAX_CONNS", ""))),
        (.role, Wire.begin(role: 2)),
        (.role, Wire.begin(role: 3)),
        (.foreignRequest, Wire.begin() + Wire.record(4, id: 2)),
        (.foreignRequest, Wire.begin() + Wire.record(9, id: 0)),
        (.foreignRequest, Wire.begin() + Wire.record(4) + Wire.record(5, id: 3)),
        // What writes past libfcgi's stack: a management record in the middle of a body.
        (.foreignRequest, Wire.begin() + Wire.record(4) + Wire.record(9, id: 0, Wire.pair("FCGI_MAX_CONNS", ""))),
        (.recordType, Wire.begin() + Wire.begin()),
        (.recordType, Wire.begin() + Wire.record(5)),
        (.recordType, Wire.begin() + Wire.record(4) + Wire.record(2)),
        (.recordType, Wire.begin() + Wire.record(4) + Wire.record(8)),
        (.nameTooLong, declaring(Wire.fourByteLength(0xFFFF_FFFF))),
        (.nameTooLong, declaring(Wire.fourByteLength(0x8000_0101))),
        (.valueTooLong, declaring([1] + Wire.fourByteLength(0xFFFF_FFFF))),
        (.valueTooLong, declaring([0] + Wire.fourByteLength(0x8000_8001))),
        (.nameTooLong, declaring(Wire.fourByteLength(0xFFFF_FFFE) + Wire.fourByteLength(0x8000_0002))),
        (.parametersCutShort, Wire.begin() + Wire.record(4, [5]) + Wire.record(4)),
        (.parametersCutShort, Wire.begin() + Wire.record(4, [0x80, 0]) + Wire.record(4)),
        (.parametersCutShort, Wire.begin() + Wire.record(4, [1, 2, 65]) + Wire.record(4)),
        (.tooManyParameters, declaring([UInt8](repeating: 0, count: 2 * 257))),
        (.bytesAfterEnd, Wire.request() + [1]),
        (.bytesAfterEnd, Wire.request() + Wire.request()),
        (
            .tooMuchFraming,
            Wire.begin() + Wire.record(4)
                + (0..<600).flatMap { _ in Wire.record(5, [65], padding: 255) } + Wire.record(5)
        ),
    ]

    @Test(arguments: wrong)
    func `what a web server does not send is refused`(_ reason: RejectReason, _ bytes: [UInt8]) {
        #expect(result(bytes) == .invalid(reason))
    }

    @Test func `a length that is not four bytes long says no more than 127`() {
        // 0x7F is a whole length; 0x7FFFFFFF read as one byte after another is four pairs of 127 and 255-byte lengths.
        let bytes = Wire.begin() + Wire.record(4, [0x7F, 0] + [UInt8](repeating: 65, count: 127))
        #expect(result(bytes) == .incomplete)
    }

    @Test func `a header is refused before its content arrives`() {
        let header: [UInt8] = [1, 4, 0, 1, 0xFF, 0xFF, 0, 0]
        var limits = ServerLimits()
        limits.parameterBytes = 1000
        #expect(result(Wire.begin() + header, limits) == .invalid(.parametersTooLong))
    }

    @Test func `limits hold to the byte`() {
        var limits = ServerLimits()
        limits.parameterNameBytes = 3
        limits.parameterValueBytes = 4
        limits.parameters = 1
        limits.bodyBytes = 5
        let good = Wire.begin() + Wire.parameters([("ABC", "defg")])
        #expect(result(good, limits) == .incomplete)
        #expect(result(Wire.begin() + Wire.parameters([("ABCD", "")]), limits) == .invalid(.nameTooLong))
        #expect(result(Wire.begin() + Wire.parameters([("A", "defgh")]), limits) == .invalid(.valueTooLong))
        #expect(result(Wire.begin() + Wire.parameters([("A", ""), ("B", "")]), limits) == .invalid(.tooManyParameters))
        let whole = good + Wire.input(Array("12345".utf8))
        #expect(result(whole, limits) == .complete(length: whole.count))
        #expect(result(good + Wire.input(Array("123456".utf8)), limits) == .bodyTooLarge(headLength: good.count))
        let pieces = good + Wire.record(5, [1, 2, 3]) + Wire.record(5, [4, 5, 6])
        #expect(result(pieces, limits) == .bodyTooLarge(headLength: good.count))
    }
}
