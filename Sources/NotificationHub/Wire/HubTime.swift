// SPDX-License-Identifier: Apache-2.0
internal import Text

/// A time in the three ways in which the hub writes it, all in UTC.
package struct HubTime {
    private let civil: CivilTime

    /// - Parameter seconds: since 1970; a time before that is written as 1970, one after the year 9999 as its end.
    package init(_ seconds: Int64) {
        civil = CivilTime(Timestamp(seconds: max(seconds, 0)))
    }

    /// Seconds since 1970 of a time as one of the official clients writes it: as RFC 3339 spells it, or without a zone, in UTC, or as
    /// `01/02/2030 13:04:05`, in UTC. Java's client writes the last with the hours of a clock of twelve; such a time after
    /// noon is read as twelve hours early.
    /// - Returns: nil: it has another form.
    package static func seconds(_ text: String) -> Int64? {
        (Timestamp(rfc3339: text) ?? Timestamp(rfc3339: text + "Z") ?? slashed(text))?.seconds
    }

    /// The same of an expiry, which may also be a day or to the minute.
    static func expiry(_ text: String) -> Int64? {
        seconds(text) ?? (Timestamp(rfc3339: text + "T00:00:00Z") ?? toTheMinute(text))?.seconds
    }

    /// `2030-01-02T13:04+0000`, as the SDKs for phones write the expiry of an installation.
    private static func toTheMinute(_ text: String) -> Timestamp? {
        let bytes = Array(text.utf8)
        guard bytes.count == 21 else { return nil }
        let parts = [bytes[..<16], bytes[16..<19], bytes[19...]].map { String(decoding: $0, as: UTF8.self) }
        return Timestamp(rfc3339: "\(parts[0]):00\(parts[1]):\(parts[2])")
    }

    private static func slashed(_ text: String) -> Timestamp? {
        let parts = text.utf8.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard parts.count == 2, let day = parts.first, let clock = parts.last else { return nil }
        let numbers = day.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard numbers.map(\.count) == [2, 2, 4], let month = numbers.first, let year = numbers.last else { return nil }
        let date = [year, month, numbers[1]].map { String(Substring($0)) }.joined(separator: "-")
        return Timestamp(rfc3339: "\(date)T\(Substring(clock))Z")
    }

    /// `2018-11-07T00:18:29Z`.
    package var iso8601: String {
        "\(civil.year)-\(two(civil.month))-\(two(civil.day))T\(clock(":"))Z"
    }

    /// `11/7/2018 12:18:37 AM`, in the detail of an error.
    package var american: String {
        "\(civil.month)/\(civil.day)/\(civil.year) "
            + "\((civil.hour + 11) % 12 + 1):\(two(civil.minute)):\(two(civil.second)) \(civil.hour < 12 ? "AM" : "PM")"
    }

    /// `20181107001829`, in a message's id.
    package var compact: String {
        "\(civil.year)\(two(civil.month))\(two(civil.day))\(clock(""))"
    }

    private func clock(_ separator: String) -> String {
        [civil.hour, civil.minute, civil.second].map(two).joined(separator: separator)
    }

    private func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
