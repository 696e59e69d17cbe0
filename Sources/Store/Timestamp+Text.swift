// SPDX-License-Identifier: Apache-2.0

/// Times in files: `2026-12-21T00:00:00Z` (RFC 3339, always UTC, whole seconds), readable by people and by `jq`.
///
/// The arithmetic is our own, because Foundation's calendars cost 30 MB of memory. It counts days from 1 March of a
/// year four hundred years before year 0, so that the leap day ends a year and no division sees a negative number.
extension Timestamp {
    /// 0000-01-01T00:00:00Z, the earliest time that has a text of this form.
    private static let earliest: Int64 = -62_167_219_200
    /// 9999-12-31T23:59:59Z, the latest.
    private static let latest: Int64 = 253_402_300_799
    private static let secondsPerDay: Int64 = 86_400
    /// Days in 400 years of the Gregorian calendar, after which it repeats.
    private static let daysPerEra: Int64 = 146_097
    /// Days from 1 March of the year -400 to 1 January 1970.
    private static let epoch: Int64 = 719_468 + daysPerEra

    /// Times outside of the years 0 ... 9999 are written as the nearest one inside.
    var text: String {
        let seconds = min(max(seconds, Self.earliest), Self.latest)
        let sinceEra = seconds + Self.epoch * Self.secondsPerDay
        let (year, month, day) = Self.civil(day: sinceEra / Self.secondsPerDay)
        let time = sinceEra % Self.secondsPerDay
        var text: [UInt8] = []
        text.reserveCapacity(20)
        Self.append(year, digits: 4, "-", to: &text)
        Self.append(month, digits: 2, "-", to: &text)
        Self.append(day, digits: 2, "T", to: &text)
        Self.append(time / 3600, digits: 2, ":", to: &text)
        Self.append(time / 60 % 60, digits: 2, ":", to: &text)
        Self.append(time % 60, digits: 2, "Z", to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Nil for anything that `text` would not have written: other forms, 30 February, 24 o'clock, leap seconds.
    init?(text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == 20, let year = Self.number(bytes[0..<4]), let month = Self.number(bytes[5..<7]),
            let day = Self.number(bytes[8..<10]), let hour = Self.number(bytes[11..<13]),
            let minute = Self.number(bytes[14..<16]), let second = Self.number(bytes[17..<19]),
            (1...12).contains(month)
        else { return nil }
        let days = Self.day(year: year, month: month, day: day)
        seconds = (days - Self.epoch) * Self.secondsPerDay + hour * 3600 + minute * 60 + second
        guard self.text == text else { return nil }
    }

    private static func civil(day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let era = day / daysPerEra
        let dayOfEra = day % daysPerEra
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let fromMarch = (5 * dayOfYear + 2) / 153
        let month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9
        let year = era * 400 + yearOfEra - 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * fromMarch + 2) / 5 + 1)
    }

    private static func day(year: Int64, month: Int64, day: Int64) -> Int64 {
        let year = year + 400 - (month <= 2 ? 1 : 0)
        let fromMarch = (month + 9) % 12
        return year * 365 + year / 4 - year / 100 + year / 400 + (153 * fromMarch + 2) / 5 + day - 1
    }

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
