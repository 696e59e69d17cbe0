// SPDX-License-Identifier: Apache-2.0
package import HTTPTypes
internal import Text

/// Compares this host's clock with a service's, by the `Date` of an answer. Tokens are dated by ours.
package enum ServiceClock {
    /// In seconds. Less spoils no token: services take an hour, and tokens are renewed some minutes before it is over.
    static let tolerance: Int64 = 10 * 60

    /// - Parameter now: seconds since 1970, by this host's clock.
    /// - Returns: what is wrong with it, for the operator; nil where it is right, and where the answer has no date.
    package static func fault(_ fields: HTTPFields, now: Int64) -> String? {
        guard let text = fields[.date], let date = HTTPDate.seconds(text, now: now) else { return nil }
        let (difference, overflow) = now.subtractingReportingOverflow(date)
        guard !overflow, difference.magnitude > UInt64(tolerance) else { return nil }
        let direction = difference < 0 ? "behind" : "ahead of"
        return "this host's clock is \(difference.magnitude) s \(direction) that of the service: set it (timedatectl)"
    }
}
