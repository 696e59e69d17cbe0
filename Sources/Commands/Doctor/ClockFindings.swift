// SPDX-License-Identifier: Apache-2.0
import CPlatform
import HTTP
import HTTPTypes
import System
import Text

/// How far another host's clock is ahead of ours.
struct ClockDifference: Equatable, Sendable {
    /// A difference above this is wrong, in seconds: some hubs refuse signatures then.
    static let maximumSeconds: Int64 = 300
    /// A difference above this shows a clock that is not synchronized, in seconds.
    static let noticeSeconds: Int64 = 30

    var host: String
    var seconds: Int64

    var isNoticeable: Bool { seconds.magnitude > UInt64(Self.noticeSeconds) }
    var isTooLarge: Bool { seconds.magnitude > UInt64(Self.maximumSeconds) }
}

extension ClockDifference {
    /// - Parameters:
    ///   - response: an answer of that host, for its `Date`.
    ///   - before: when it was asked, in seconds since 1970.
    ///   - after: when the answer was there.
    /// - Returns: nil, when the answer does not say when it was made.
    init?(host: String, _ response: Response, before: Int64, after: Int64) {
        guard let text = response.fields[.date], let date = HTTPDate.seconds(text, now: after) else { return nil }
        // It was made at some moment between: only what lies outside is a difference.
        let seconds = date < before ? date - before : date > after ? date - after : 0
        self.init(host: host, seconds: seconds)
    }
}

/// Lets questions through and records how far the answering host's clock is from ours.
final class DateRecorder: Responder {
    private let host: String
    private let inner: any Responder
    private let now: @Sendable () -> Int64
    private let recorded = Lock<ClockDifference?>(nil)

    /// - Parameter now: seconds since 1970.
    init(host: String, inner: any Responder, now: @escaping @Sendable () -> Int64) {
        self.host = host
        self.inner = inner
        self.now = now
    }

    /// By the last answer that said when it was made; nil: none did.
    var difference: ClockDifference? { recorded.withLock(\.self) }

    func respond(to request: Request) throws -> Response {
        let before = now()
        let response = try inner.respond(to: request)
        if let difference = ClockDifference(host: host, response, before: before, after: now()) {
            recorded.withLock { $0 = difference }
        }
        return response
    }
}

/// Judges this host's clock: signatures are good for an hour, and hubs refuse what was signed in the future.
struct ClockFindings: Sendable {
    /// Whether the kernel's clock is synchronized (adjtimex(2)); nil: it does not say.
    let isSynchronized: Bool?
    let differences: [ClockDifference]
    /// Whether the hub is elsewhere, and looks at our signatures.
    let hasExternalHub: Bool

    /// Of this host.
    static var isKernelClockSynchronized: Bool? {
        switch platform_clock_is_synchronized() {
        case 0: false
        case 1: true
        default: nil
        }
    }

    private var refusal: String {
        hasExternalHub ? "the hub refuses our signatures" : "push services may refuse our tokens"
    }

    func findings() -> [Finding] {
        let fix = "`timedatectl set-ntp true`, `systemctl status systemd-timesyncd`; then `timedatectl`"
        let found = differences.filter(\.isNoticeable).map { difference in
            let direction = difference.seconds > 0 ? "behind" : "ahead of"
            let text =
                "the clock of this host is \(difference.seconds.magnitude) s \(direction) that of \(difference.host)"
            return difference.isTooLarge
                ? Finding.fail("\(text), so \(refusal)", fix: fix) : .warning(text, fix: fix)
        }
        guard found.isEmpty else { return found }
        let compared = differences.map(\.host).joined(separator: " and ")
        let agrees =
            compared.isEmpty ? "no host to compare it with" : "within \(ClockDifference.noticeSeconds) s of \(compared)"
        return isSynchronized == false
            ? [.warning("nothing keeps the clock of this host right (\(agrees))", fix: fix)] : [.ok(agrees)]
    }
}
