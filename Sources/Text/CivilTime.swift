// SPDX-License-Identifier: Apache-2.0

/// A moment as the calendar and the clock show it in UTC, to the second (Gregorian calendar, no leap seconds).
///
/// The arithmetic is our own, because Foundation's calendars cost 30 MB of memory, and those of glibc take one lock of the process
/// at each call. It counts days from 1 March of a year four hundred years before year 0, so that the leap day ends a year and no
/// division sees a negative number.
package struct CivilTime: Equatable, Sendable {
    /// 0 ... 9999.
    package let year: Int64
    /// 1 ... 12.
    package let month: Int64
    /// 1 ... 31.
    package let day: Int64
    /// 0 ... 23.
    package let hour: Int64
    /// 0 ... 59.
    package let minute: Int64
    /// 0 ... 59.
    package let second: Int64

    /// 0000-01-01T00:00:00Z, the earliest time that four digits can name.
    private static let earliest: Int64 = -62_167_219_200
    /// 9999-12-31T23:59:59Z, the latest.
    private static let latest: Int64 = 253_402_300_799
    private static let secondsPerDay: Int64 = 86_400
    /// Days in 400 years of the Gregorian calendar, after which it repeats.
    private static let daysPerEra: Int64 = 146_097
    /// Days from 1 March of the year -400 to 1 January 1970.
    private static let epoch: Int64 = 719_468 + daysPerEra

    /// Times outside of the years 0 ... 9999 become the nearest one inside.
    package init(_ timestamp: Timestamp) {
        let seconds = min(max(timestamp.seconds, Self.earliest), Self.latest)
        let sinceEra = seconds + Self.epoch * Self.secondsPerDay
        let time = sinceEra % Self.secondsPerDay
        (hour, minute, second) = (time / 3600, time / 60 % 60, time % 60)
        let days = sinceEra / Self.secondsPerDay
        let dayOfEra = days % Self.daysPerEra
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let fromMarch = (5 * dayOfYear + 2) / 153
        month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9
        year = days / Self.daysPerEra * 400 + yearOfEra - 400 + (month <= 2 ? 1 : 0)
        day = dayOfYear - (153 * fromMarch + 2) / 5 + 1
    }

    /// Nil for what no calendar and clock show: 30 February, 24 o'clock, leap seconds, years above 9999.
    init?(year: Int64, month: Int64, day: Int64, hour: Int64, minute: Int64, second: Int64) {
        guard (0...9999).contains(year), (1...12).contains(month), (1...31).contains(day), (0...23).contains(hour),
            (0...59).contains(minute), (0...59).contains(second)
        else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
        (self.hour, self.minute, self.second) = (hour, minute, second)
        guard CivilTime(timestamp) == self else { return nil }
    }

    var timestamp: Timestamp {
        let days = Self.days(year, month, day)
        return Timestamp(seconds: days * Self.secondsPerDay + hour * 3600 + minute * 60 + second)
    }

    /// Days from 1 January 1970.
    static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = year + 400 - (month <= 2 ? 1 : 0)
        let fromMarch = (month + 9) % 12
        let leapDays = shifted / 4 - shifted / 100 + shifted / 400
        return shifted * 365 + leapDays + (153 * fromMarch + 2) / 5 + day - 1 - epoch
    }
}
