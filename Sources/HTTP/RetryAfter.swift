// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes
import Text

/// How long a server asks to be left alone (`Retry-After`, RFC 9110 section 10.2.3).
public enum RetryAfter {
    /// A server that asks for longer is called again after this many seconds: a typing error there must not silence us for years.
    public static let maximumSeconds = 86_400

    /// Seconds from now, 0 ... `maximumSeconds`; nil when the field is absent or says neither seconds nor a date.
    /// - Parameter now: seconds since 1970, for the form that names a date.
    public static func seconds(_ fields: HTTPFields, now: Int64) -> Int? {
        guard let text = fields[.retryAfter] else { return nil }
        if !text.isEmpty, text.utf8.allSatisfy(ASCII.isDigit) {
            // More digits than an integer holds are a long time, too.
            return min(Int(text) ?? maximumSeconds, maximumSeconds)
        }
        guard let date = HTTPDate.seconds(text, now: now) else { return nil }
        let (wait, overflow) = date.subtractingReportingOverflow(now)
        return overflow ? maximumSeconds : Int(min(max(wait, 0), Int64(maximumSeconds)))
    }
}
