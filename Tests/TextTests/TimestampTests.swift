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
