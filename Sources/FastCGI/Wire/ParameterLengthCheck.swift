// SPDX-License-Identifier: Apache-2.0

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
