// SPDX-License-Identifier: Apache-2.0

/// A moment as a field of HTTP names it (RFC 9110 section 5.6.7), to the second.
public enum HTTPDate {
    /// Seconds since 1970, of any of the three forms that a recipient must understand:
    /// `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT`, `Sun Nov  6 08:49:37 1994`.
    /// - Parameter now: seconds since 1970; a year of two digits is at most 50 years after it.
    /// - Returns: nil for anything else. The name of the day is not checked, nor which signs part the numbers: neither
    ///   says anything new.
    public static func seconds(_ text: String, now: Int64) -> Int64? {
        let parts = text.utf8.split { " ,-:".utf8.contains($0) }.map { String(Substring($0)) }
        switch parts.count {
        case 8 where parts[7] == "GMT":
            return seconds(day: parts[1], month: parts[2], year: parts[3], time: parts[4...6], now: now)
        case 7:
            return seconds(day: parts[2], month: parts[1], year: parts[6], time: parts[3...5], now: now)
        default: return nil
        }
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    private static let secondsPerDay: Int64 = 86_400
    private static let secondsPerYear: Int64 = 31_556_952

    private static func seconds(
        day: String, month: String, year: String, time: ArraySlice<String>, now: Int64
    ) -> Int64? {
        let clock = time.compactMap { number($0, 0...60) }
        guard let day = number(day, 1...31), let month = months.firstIndex(of: month), clock.count == 3, clock[0] < 24,
            clock[1] < 60, let named = number(year, year.utf8.count == 2 ? 0...99 : 1970...9999)
        else { return nil }
        let ofDay = clock[0] * 3600 + clock[1] * 60 + clock[2]
        guard year.utf8.count == 2 else { return CivilTime.days(named, Int64(month) + 1, day) * secondsPerDay + ofDay }
        let seconds = CivilTime.days(2000 + named, Int64(month) + 1, day) * secondsPerDay + ofDay
        guard seconds > now &+ 50 * secondsPerYear else { return seconds }
        return CivilTime.days(1900 + named, Int64(month) + 1, day) * secondsPerDay + ofDay
    }

    private static func number(_ digits: String, _ range: ClosedRange<Int64>) -> Int64? {
        guard digits.utf8.allSatisfy(ASCII.isDigit), let number = Int64(digits) else { return nil }
        return range.contains(number) ? number : nil
    }
}
