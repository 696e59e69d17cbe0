// SPDX-License-Identifier: Apache-2.0
package import HTTP
import Text

/// What carries pushes to APNs over one connection at a time, and can be closed.
package struct APNsTransport: Sendable {
    let sender: any RequestSender
    let close: @Sendable () -> Void

    /// - Parameters:
    ///   - sender: ends each request within a deadline of its own.
    ///   - close: ends the requests under way and the connection; called once, from any thread.
    package init(_ sender: any RequestSender, close: @escaping @Sendable () -> Void) {
        self.sender = sender
        self.close = close
    }
}

/// That a push was not sent, because it waited too long for another one, or for a connection.
struct PushNotSent: TransportFailure, Equatable {
    /// Of the failure that it waited for.
    let kind: String
    let isTransient: Bool
    let fault: ConnectionFault?

    static let overloaded = PushNotSent(kind: "overloaded", isTransient: false)
    static let closed = PushNotSent(kind: "cancelled", isTransient: false)

    private init(kind: String, isTransient: Bool, fault: ConnectionFault? = nil) {
        (self.kind, self.isTransient, self.fault) = (kind, isTransient, fault)
    }

    init(after error: any Error) {
        let failure = error as? any TransportFailure
        self.init(kind: failure?.kind ?? "failed", isTransient: failure?.isTransient ?? false, fault: failure?.fault)
    }

    var isUnsent: Bool { true }
    var isPermanent: Bool { false }
}

/// A moment on both clocks: one can be set, and tokens are dated by it; the other cannot.
struct Moment {
    /// Seconds since 1970.
    let date: Int64
    let instant: ContinuousClock.Instant
}

/// A provider token, and when it was made.
struct ProviderToken {
    /// A token is not replaced earlier because APNs calls it expired; Apple refuses tokens that change more often.
    static let minimumAge = Duration.seconds(20 * 60)
    /// The earliest and the latest regular end of a token. Apple takes none that is older than an hour.
    static let regularAge = Duration.seconds(45 * 60)...Duration.seconds(50 * 60)
    /// How far the clock may be set before the date in a token is called wrong, in seconds.
    static let maximumClockStep: Int64 = 60

    let text: Secret
    let madeAt: Moment
    private let lifetime: Duration

    init(_ text: Secret, madeAt: Moment) {
        self.text = text
        self.madeAt = madeAt
        // Random, so that the processes of a site do not open new connections at the same moment.
        let spread = Self.regularAge.upperBound - Self.regularAge.lowerBound
        lifetime = Self.regularAge.lowerBound + spread * Double.random(in: 0...1)
    }

    func age(at now: Moment) -> Duration { now.instant - madeAt.instant }

    /// Whether its time is over, or the clock was set since it was dated.
    func isStale(at now: Moment) -> Bool {
        let age = age(at: now)
        guard age < lifetime else { return true }
        // Not more than once a minute, even while the clock is set to and fro.
        guard age >= .seconds(Self.maximumClockStep) else { return false }
        let expected = madeAt.date.addingReportingOverflow(age.components.seconds)
        let step = now.date.subtractingReportingOverflow(expected.partialValue)
        return expected.overflow || step.overflow || step.partialValue.magnitude > UInt64(Self.maximumClockStep)
    }
}
