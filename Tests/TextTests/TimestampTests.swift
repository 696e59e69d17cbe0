// SPDX-License-Identifier: Apache-2.0
import Foundation
import Support
import Testing
import Text

@Suite struct TimestampTests {
    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00Z"), (951_782_399, "2000-02-28T23:59:59Z"), (951_782_400, "2000-02-29T00:00:00Z"),
            (1_798_934_400, "2027-01-03T00:00:00Z"), (4_107_542_399, "2100-02-28T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"), (-1, "1969-12-31T23:59:59Z"),
            (-62_167_219_200, "0000-01-01T00:00:00Z"),
            (253_402_300_799, "9999-12-31T23:59:59Z"), (-62_162_121_600, "0000-02-29T00:00:00Z"),
        ] as [(Int64, String)])
    func `times have one text`(seconds: Int64, text: String) {
        #expect(Timestamp(seconds: seconds).text == text)
        #expect(Timestamp(text: text) == Timestamp(seconds: seconds))
    }

    @Test(arguments: [
        "", "2026-12-21", "2026-12-21T00:00:00", "2026-12-21 00:00:00Z", "2026-12-21T00:00:00+00:00",
        "2026-12-21T00:00:00.5Z", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z",
        "2026-01-00T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z", "2026-12-31T23:59:60Z",
        "2026-12-21t00:00:00z", "-026-12-21T00:00:00Z", "2026-12-21T00:00:0éZ",
        "2026/12-21T00:00:00Z", "2026-12/21T00:00:00Z", "2026-12-21T00.00:00Z", "2026-12-21T00:00.00Z",
    ])
    func `other forms of times are refused`(text: String) {
        #expect(Timestamp(text: text) == nil)
    }

    @Test(
        arguments: [
            // JavaScript, Python, .NET, PostgreSQL; section 5.8 of RFC 3339.
            ("2026-11-30T08:00:00.000Z", "2026-11-30T08:00:00Z"), ("2026-11-30T08:00:00+00:00", "2026-11-30T08:00:00Z"),
            ("2026-11-30T08:00:00.1234567Z", "2026-11-30T08:00:00Z"),
            ("2026-11-30T09:30:00.123456+01:30", "2026-11-30T08:00:00Z"),
            ("2026-11-30 08:00:00.5+00:00", "2026-11-30T08:00:00Z"), ("2026-11-30t08:00:00z", "2026-11-30T08:00:00Z"),
            ("1985-04-12T23:20:50.52Z", "1985-04-12T23:20:50Z"), ("1996-12-19T16:39:57-08:00", "1996-12-20T00:39:57Z"),
            ("1937-01-01T12:00:27.87+00:20", "1937-01-01T11:40:27Z"),
            // The zone is not known, and the moment is.
            ("2026-11-30T08:00:00-00:00", "2026-11-30T08:00:00Z"),
            ("2024-02-29T00:00:00+23:59", "2024-02-28T00:01:00Z"),
            ("2026-12-31T23:59:59-23:59", "2027-01-01T23:58:59Z"),
            ("2026-11-30T08:00:00." + String(repeating: "9", count: 400) + "Z", "2026-11-30T08:00:00Z"),
            // A leap second, as POSIX counts it.
            ("1990-12-31T23:59:60Z", "1991-01-01T00:00:00Z"), ("1990-12-31T15:59:60-08:00", "1991-01-01T00:00:00Z"),
            ("2015-07-01T01:59:60.9+02:00", "2015-07-01T00:00:00Z"),
            ("0000-01-01T00:00:00Z", "0000-01-01T00:00:00Z"), ("9999-12-31T23:59:59.9Z", "9999-12-31T23:59:59Z"),
        ] as [(String, String)])
    func `a moment is read in all spellings of RFC 3339`(text: String, moment: String) throws {
        #expect(Timestamp(rfc3339: text) == Timestamp(text: moment))
        #expect(Timestamp(text: moment) != nil)
    }

    @Test(arguments: [
        "", "2026-11-30", "08:00:00Z", "2026-11-30T08:00:00", "2026-11-30T08:00Z", "2026-11-30T08:00:00.Z",
        "2026-11-30T08:00:00,5Z", "2026-11-30T08:00:00.5", "2026-11-30T08:00:00+1", "2026-11-30T08:00:00+0100",
        "2026-11-30T08:00:00+01", "2026-11-30T08:00:00+24:00", "2026-11-30T08:00:00+00:60", "2026-11-30T08:00:00 01:00",
        "2026-11-30T08:00:00ZZ", "2026-11-30T08:00:00Z ", " 2026-11-30T08:00:00Z", "2026-11-30_08:00:00Z",
        "2026-02-29T08:00:00Z", "2026-11-31T08:00:00Z", "2026-13-01T08:00:00Z", "2026-11-30T24:00:00Z",
        "2026-11-30T08:60:00Z", "2026-11-30T08:00:61Z", "2026-11-30T08:00:60Z", "2026-11-30T23:59:60+01:00",
        "2026-12-30T23:59:60Z", "9999-12-31T23:59:60Z", "9999-12-31T23:59:59-00:01", "0000-01-01T00:00:00+00:01",
        "+02026-11-30T08:00:00Z", "20261130T080000Z", "1764489600", "2026-11-30T08:00:0éZ", "2026-11-30T08:00:00\u{0}Z",
        "२०२६-11-30T08:00:00Z",
    ])
    func `what names no moment is no time`(text: String) {
        #expect(Timestamp(rfc3339: text) == nil)
    }

    @Test func `times agree with Foundation's calendar and saturate at its ends`() {
        var random = SeededRandom(seed: 1)
        let formatter = ISO8601DateFormatter()
        for _ in 0..<2_000 {
            let time = Timestamp(seconds: .random(in: -10_000_000_000...100_000_000_000, using: &random))
            #expect(time.text == formatter.string(from: Date(timeIntervalSince1970: TimeInterval(time.seconds))))
            #expect(Timestamp(text: time.text) == time)
        }
        #expect(Timestamp(seconds: .max).text == "9999-12-31T23:59:59Z")
        #expect(Timestamp(seconds: .min).text == "0000-01-01T00:00:00Z")
    }
}
