// SPDX-License-Identifier: Apache-2.0
package import AppBackend
import FastCGI
package import HTTP
package import Store
import System
import Text

/// The service as who looks at it from within the process sees it.
package struct RunningSite: Sendable {
    /// The one that the service has open.
    package let store: any SiteStore
    /// Answers as the service does, without a socket.
    package let responder: any Responder

    package init(store: any SiteStore, responder: any Responder) {
        (self.store, self.responder) = (store, responder)
    }
}

/// Has the service looked at on a thread of its own, one look at a time, and keeps what was found.
package final class Examiner: Sendable {
    /// Looks at the service, and waits for no question longer than some seconds.
    package typealias Look = @Sendable (RunningSite) -> [SiteFindings.Finding]

    /// What was found is as good as new for so many seconds.
    static let keptSeconds: Int64 = 60
    /// A look that takes longer hangs, in seconds.
    static let patienceSeconds = 120

    private struct State: Sendable {
        var site: RunningSite?
        var lookedAt: Timestamp?
        var findings: [SiteFindings.Finding] = []
        /// When the look that is under way began.
        var begunAt: ContinuousClock.Instant?
    }

    private let look: Look
    private let now: @Sendable () -> Timestamp
    private let clock: @Sendable () -> ContinuousClock.Instant
    private let state = Lock(State())

    init(
        now: @escaping @Sendable () -> Timestamp = Site.now,
        clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }, look: @escaping Look
    ) {
        (self.look, self.now, self.clock) = (look, now, clock)
    }

    /// Names what is looked at. It and the service need each other, so one of them comes later.
    func watch(_ site: RunningSite) {
        state.withLock { $0.site = site }
    }

    /// What the last look has found. Begins another, where that one is old.
    var findings: SiteFindings {
        let (time, instant) = (now(), clock())
        let site = state.withLock { state -> RunningSite? in
            let isFresh = state.lookedAt.map { ($0...$0 + Self.keptSeconds).contains(time) } ?? false
            guard let site = state.site, !isFresh, state.begunAt == nil else { return nil }
            state.begunAt = instant
            return site
        }
        if let site { begin(site) }
        return state.withLock { state in
            let isHanging = state.begunAt.map { $0.duration(to: instant) > .seconds(Self.patienceSeconds) } ?? false
            return SiteFindings(
                lookedAt: state.lookedAt, isLooking: state.begunAt != nil && !isHanging,
                findings: isHanging ? [Self.hanging] : state.findings)
        }
    }

    private static let hanging = SiteFindings.Finding(
        step: "socket", verdict: "wrong", found: "the self-check timed out after \(patienceSeconds) s",
        fix: "`app-backend doctor` on the host shows at which step it waits; then `systemctl restart app-backend`")

    private func begin(_ site: RunningSite) {
        do throws(ServerError) {
            try PlatformThread.start { [self] in
                let found = look(site)
                end(found)
            }
        } catch {
            end([.init(step: "socket", verdict: "wrong", found: "the service cannot be looked at: \(error)")])
        }
    }

    private func end(_ findings: [SiteFindings.Finding]) {
        let time = now()
        state.withLock { state in (state.findings, state.lookedAt, state.begunAt) = (findings, time, nil) }
    }
}
