// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import Testing
import Text

/// 1994-11-06T08:49:37Z, the RFC's own example.
private let example: Int64 = 784_111_777

@Suite struct `A date in a field` {
    @Test(arguments: [
        ("Sun, 06 Nov 1994 08:49:37 GMT", example), ("Sunday, 06-Nov-94 08:49:37 GMT", example),
        ("Sun Nov  6 08:49:37 1994", example), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("Tue, 29 Feb 2000 23:59:59 GMT", 951_868_799), ("Sat, 01 Mar 2025 00:00:00 GMT", 1_740_787_200),
        ("Fri, 31 Dec 2100 23:59:60 GMT", 4_133_980_800),
    ])
    func `is understood in each form that a recipient must understand`(text: String, seconds: Int64) {
        #expect(HTTPDate.seconds(text, now: example) == seconds)
    }

    @Test func `with a year of two digits is at most fifty years away`() {
        let text = "Sunday, 06-Nov-94 08:49:37 GMT"
        #expect(HTTPDate.seconds(text, now: 1_700_000_000) == example)
        // In 2060 the year 94 is 34 years away.
        #expect(HTTPDate.seconds(text, now: 2_840_000_000).map { $0 > 2_840_000_000 } == true)
    }

    @Test(arguments: [
        "", "soon", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Nov 1994 24:00:00 GMT",
        "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 32 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nix 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49 GMT", "Sun, 06 Nov 999999999999 08:49:37 GMT",
        "Sun, 6.5 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37Z", "Sun, ٠٦ Nov 1994 08:49:37 GMT",
    ])
    func `that is malformed is nil`(text: String) {
        #expect(HTTPDate.seconds(text, now: example) == nil)
    }
}

@Suite struct `How long a server asks to wait` {
    @Test(arguments: [
        ("0", 0), ("120", 120), ("86400", 86_400), ("86401", 86_400), ("99999999999999999999", 86_400),
        ("Sun, 06 Nov 1994 08:51:37 GMT", 120), ("Sun, 06 Nov 1994 08:00:00 GMT", 0),
        ("Sun, 06 Nov 2094 08:00:00 GMT", 86_400), ("", nil), ("-1", nil), ("1.5", nil), ("soon", nil),
    ])
    func `is taken from seconds or from a date, and has a bound`(text: String, seconds: Int?) {
        #expect(RetryAfter.seconds([.retryAfter: text], now: example) == seconds)
    }

    @Test func `is not known without the field, and at no time of the clock a trap`() {
        #expect(RetryAfter.seconds([:], now: example) == nil)
        for now in [Int64.min, .max] {
            let seconds = RetryAfter.seconds([.retryAfter: "Sunday, 06-Nov-94 08:49:37 GMT"], now: now)
            #expect(seconds.map { (0...RetryAfter.maximumSeconds).contains($0) } == true)
        }
    }
}
