// SPDX-License-Identifier: Apache-2.0

/// Whole seconds since 1970-01-01T00:00:00Z. In files it is written as `2026-12-21T00:00:00Z`.
package struct Timestamp: Comparable, Hashable, Sendable {
    package var seconds: Int64

    package init(seconds: Int64) {
        self.seconds = seconds
    }

    package static func < (one: Timestamp, other: Timestamp) -> Bool { one.seconds < other.seconds }

    /// Saturates at the ends of `Int64` instead of trapping.
    package static func + (time: Timestamp, seconds: Int64) -> Timestamp {
        let (sum, overflow) = time.seconds.addingReportingOverflow(seconds)
        return Timestamp(seconds: overflow ? (seconds < 0 ? .min : .max) : sum)
    }
}

/// Times in files: `2026-12-21T00:00:00Z` (RFC 3339, always UTC, whole seconds), readable by people and by `jq`.
extension Timestamp {
    /// Times outside of the years 0 ... 9999 are written as the nearest one inside.
    package var text: String {
        let civil = CivilTime(self)
        var text: [UInt8] = []
        text.reserveCapacity(20)
        Self.append(civil.year, digits: 4, "-", to: &text)
        Self.append(civil.month, digits: 2, "-", to: &text)
        Self.append(civil.day, digits: 2, "T", to: &text)
        Self.append(civil.hour, digits: 2, ":", to: &text)
        Self.append(civil.minute, digits: 2, ":", to: &text)
        Self.append(civil.second, digits: 2, "Z", to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Nil for anything that `text` would not have written.
    package init?(text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == 20, Self.separators.allSatisfy({ bytes[$0.offset] == $0.byte }),
            let year = Self.number(bytes[0..<4]), let month = Self.number(bytes[5..<7]),
            let day = Self.number(bytes[8..<10]), let hour = Self.number(bytes[11..<13]),
            let minute = Self.number(bytes[14..<16]), let second = Self.number(bytes[17..<19]),
            let civil = CivilTime(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
        else { return nil }
        self = civil.timestamp
    }

    /// What stands between the numbers, and where.
    private static let separators: [(offset: Int, byte: UInt8)] = [
        (4, UInt8(ascii: "-")), (7, UInt8(ascii: "-")), (10, UInt8(ascii: "T")), (13, UInt8(ascii: ":")),
        (16, UInt8(ascii: ":")), (19, UInt8(ascii: "Z")),
    ]

    private static func append(_ number: Int64, digits: Int, _ separator: Unicode.Scalar, to text: inout [UInt8]) {
        var unit: Int64 = digits == 4 ? 1000 : 10
        while unit > 0 {
            text.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / unit % 10))
            unit /= 10
        }
        text.append(UInt8(ascii: separator))
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        var number: Int64 = 0
        for digit in digits {
            guard digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9") else { return nil }
            number = number * 10 + Int64(digit - UInt8(ascii: "0"))
        }
        return number
    }
}
