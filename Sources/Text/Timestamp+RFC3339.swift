// SPDX-License-Identifier: Apache-2.0

extension Timestamp {
    /// Reads a moment as RFC 3339 spells it (section 5.6): with a fraction of a second, an offset, small letters, or a blank
    /// between the day and the time. It reads what JavaScript's `toISOString()`, Python's `isoformat()` and .NET's "o" write.
    ///
    /// A fraction is cut off. The second 60 of a leap second is the first one of the next day.
    /// - Returns: nil for what names no moment between the years 0 and 9999, such as a time without an offset.
    package init?(rfc3339 text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count > Self.zoneOffset, "Tt ".utf8.contains(bytes[10]) else { return nil }
        let isLeap = bytes[17..<Self.zoneOffset].elementsEqual("60".utf8)
        let day = String(decoding: bytes[..<10], as: UTF8.self)
        let clock = String(decoding: bytes[11..<17], as: UTF8.self)
        let second = isLeap ? "59" : String(decoding: bytes[17..<Self.zoneOffset], as: UTF8.self)
        guard let local = Timestamp(text: "\(day)T\(clock)\(second)Z"),
            let offset = Self.offset(bytes[Self.zoneOffset...])
        else { return nil }
        let time = local + -offset
        guard CivilTime(time).timestamp == time else { return nil }
        self = time
        guard isLeap else { return }
        // A leap second ends a month in UTC.
        let next = time + 1
        let civil = CivilTime(next)
        guard civil.timestamp == next, (civil.day, civil.hour, civil.minute, civil.second) == (1, 0, 0, 0) else {
            return nil
        }
        self = next
    }

    /// Where the seconds end.
    private static let zoneOffset = 19

    /// How far the zone is before UTC, in seconds.
    /// - Parameter text: perhaps a fraction, then the zone.
    private static func offset(_ text: ArraySlice<UInt8>) -> Int64? {
        var zone = text
        if zone.first == UInt8(ascii: ".") {
            let fraction = zone.dropFirst()
            zone = fraction.drop { ASCII.isDigit($0) }
            guard zone.count < fraction.count else { return nil }
        }
        if zone.elementsEqual("Z".utf8) || zone.elementsEqual("z".utf8) { return 0 }
        guard zone.count == 6, let sign = zone.first, "+-".utf8.contains(sign),
            let time = Timestamp(text: "1970-01-01T\(String(decoding: zone.dropFirst(), as: UTF8.self)):00Z")
        else { return nil }
        return sign == UInt8(ascii: "-") ? -time.seconds : time.seconds
    }
}
