// SPDX-License-Identifier: Apache-2.0
import NotificationHub
import Testing

@Test(arguments: [
    (0, "1970-01-01T00:00:00Z", "1/1/1970 12:00:00 AM", "19700101000000"),
    (1_541_549_909, "2018-11-07T00:18:29Z", "11/7/2018 12:18:29 AM", "20181107001829"),
    (951_825_600, "2000-02-29T12:00:00Z", "2/29/2000 12:00:00 PM", "20000229120000"),
    (4_107_542_399, "2100-02-28T23:59:59Z", "2/28/2100 11:59:59 PM", "21000228235959"),
    (4_107_542_400, "2100-03-01T00:00:00Z", "3/1/2100 12:00:00 AM", "21000301000000"),
    (Int64.max, "9999-12-31T23:59:59Z", "12/31/9999 11:59:59 PM", "99991231235959"),
    (Int64.min, "1970-01-01T00:00:00Z", "1/1/1970 12:00:00 AM", "19700101000000"),
])
func `a time is written in three ways`(seconds: Int64, iso: String, american: String, compact: String) {
    let time = HubTime(seconds)
    #expect(time.iso8601 == iso)
    #expect(time.american == american)
    #expect(time.compact == compact)
}

@Test(
    arguments: [
        ("2030-01-01T08:00:00", 1_893_484_800), ("2030-01-01T08:00:00.5", 1_893_484_800),
        ("2030-01-01T08:00:00Z", 1_893_484_800), ("2030-01-01T08:00:00.0000000Z", 1_893_484_800),
        ("2030-01-01T08:00:00+00:00", 1_893_484_800), ("2030-01-01T09:00:00.000+01:00", 1_893_484_800),
        ("2030-01-01", nil), ("2030-01-01T08:00:00.", nil), ("2030-02-30T08:00:00", nil), ("1893484800", nil),
    ] as [(String, Int64?)])
func `a client's time is read with and without a zone`(text: String, seconds: Int64?) {
    #expect(HubTime.seconds(text) == seconds)
}
