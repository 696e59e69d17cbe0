// SPDX-License-Identifier: Apache-2.0
internal import CPlatform
package import HTTP
internal import HTTPTypes
internal import Text

/// Whether this host knows what time it is: signatures are good for an hour, and hubs refuse what was signed in the
/// future.
package struct ClockStep: Sendable {
    /// A difference above this is wrong, in seconds: some hubs refuse signatures then.
    package static let maximumSeconds: Int64 = 300
    /// A difference above this is a clock that nobody sets, in seconds.
    static let noticeSeconds: Int64 = 30

    /// How far another host's clock is ahead of ours.
    package struct Difference: Equatable, Sendable {
        package var host: String
        package var seconds: Int64

        package init(host: String, seconds: Int64) {
            self.host = host
            self.seconds = seconds
        }

        /// - Parameters:
        ///   - response: an answer of that host, for its `Date`.
        ///   - before: when it was asked, in seconds since 1970.
        ///   - after: when the answer was there.
        /// - Returns: nil, when the answer does not say when it was made.
        package init?(host: String, _ response: Response, before: Int64, after: Int64) {
            guard let text = response.fields[.date], let date = HTTPDate.seconds(text, now: after) else { return nil }
            // It was made at some moment between: only what lies outside is a difference.
            let seconds = date < before ? date - before : date > after ? date - after : 0
            self.init(host: host, seconds: seconds)
        }

        package var isTooLarge: Bool { seconds.magnitude > UInt64(ClockStep.maximumSeconds) }

        var text: String { "\(seconds.magnitude) s \(seconds > 0 ? "behind" : "ahead of") that of \(host)" }
    }

    /// Whether the kernel's clock is kept right by somebody (adjtimex(2)); nil: it does not say.
    let isSynchronized: Bool?
    let differences: [Difference]

    package init(isSynchronized: Bool? = Self.isKernelClockSynchronized, differences: [Difference]) {
        self.isSynchronized = isSynchronized
        self.differences = differences
    }

    /// Of this host.
    package static var isKernelClockSynchronized: Bool? {
        switch platform_clock_is_synchronized() {
        case 0: false
        case 1: true
        default: nil
        }
    }

    package func findings() -> [Finding] {
        let cure = "`timedatectl set-ntp true`, `systemctl status systemd-timesyncd`; then `timedatectl`"
        let found = differences.filter { $0.seconds.magnitude > UInt64(Self.noticeSeconds) }.map { difference in
            let text = "the clock of this host is \(difference.text)"
            return difference.isTooLarge
                ? Finding.wrong("\(text), so hubs refuse our signatures", cure: cure) : .warning(text, cure: cure)
        }
        guard found.isEmpty else { return found }
        let compared = differences.map(\.host).joined(separator: " and ")
        let agrees = compared.isEmpty ? "nobody to compare it with" : "within \(Self.noticeSeconds) s of \(compared)"
        guard isSynchronized == false else { return [.ok(agrees)] }
        return [.warning("nothing keeps the clock of this host right (\(agrees))", cure: cure)]
    }
}
