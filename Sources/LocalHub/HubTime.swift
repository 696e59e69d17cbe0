// SPDX-License-Identifier: Apache-2.0

/// A time in the three ways in which the hub writes it, all in UTC.
struct HubTime {
    private let year: Int64
    private let month: Int64
    private let day: Int64
    private let second: Int64

    /// The last second of the year 9999; later times are written as this one.
    private static let last: Int64 = 253_402_300_799

    /// - Parameter seconds: since 1970; a time before that is written as 1970.
    init(_ seconds: Int64) {
        let seconds = min(max(seconds, 0), Self.last)
        second = seconds % 86_400
        // Days to a date of the Gregorian calendar, counted in eras of 400 years that begin on a first of March.
        let days = seconds / 86_400 + 719_468
        let dayOfEra = days % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shifted + 2) / 5 + 1
        month = shifted < 10 ? shifted + 3 : shifted - 9
        year = days / 146_097 * 400 + yearOfEra + (month <= 2 ? 1 : 0)
    }

    /// `2018-11-07T00:18:29Z`.
    var iso8601: String {
        "\(year)-\(two(month))-\(two(day))T\(two(second / 3600)):\(two(second / 60 % 60)):\(two(second % 60))Z"
    }

    /// `11/7/2018 12:18:37 AM`, in the detail of an error.
    var american: String {
        let hour = second / 3600
        return "\(month)/\(day)/\(year) \((hour + 11) % 12 + 1):\(two(second / 60 % 60)):\(two(second % 60)) "
            + (hour < 12 ? "AM" : "PM")
    }

    /// `20181107001829`, in a message's id.
    var compact: String {
        "\(year)\(two(month))\(two(day))\(two(second / 3600))\(two(second / 60 % 60))\(two(second % 60))"
    }

    private func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
