// SPDX-License-Identifier: Apache-2.0
import System

/// At most so many connections, made when they are needed and kept for the next caller.
final class ConnectionPool: Sendable {
    private struct Idle {
        let connection: Connection
        let since: ContinuousClock.Instant
    }

    private struct State {
        /// The one used last is taken first, so that those that are too many grow old.
        var idle: [Idle] = []
        /// Grows when all connections are to be left behind.
        var generation = 0
        var renewedAt: ContinuousClock.Instant?

        /// - Returns: those that were idle.
        mutating func leaveAll() -> [Idle] {
            generation += 1
            defer { idle = [] }
            return idle
        }
    }

    /// A connection, for one caller at a time.
    struct Loan {
        let connection: Connection
        fileprivate let generation: Int
    }

    /// A connection that no caller needed for so long is closed by the next caller.
    private static let longestIdle = Duration.seconds(300)
    /// How often all connections may be left behind.
    private static let renewalPause = Duration.seconds(1)

    private static let silence = "the server does not answer"

    private let library: LibPQ
    private let settings: ConnectionSettings
    private let reachability = Reachability()
    private let permits: Semaphore
    private let state = Lock(State())

    init(_ library: LibPQ, _ settings: ConnectionSettings, size: Int) {
        (self.library, self.settings) = (library, settings)
        permits = Semaphore(value: UInt32(clamping: max(1, size)))
    }

    /// Lends a connection; it must be given back.
    /// - Throws: `exhausted`, when none was given back in time; `unreachable`.
    func take(until deadline: Deadline) throws(CallFailure) -> Loan {
        guard permits.wait(until: deadline) else { throw .exhausted }
        do throws(CallFailure) {
            if let idle = idle() { return idle }
            // To connect takes no heed of a deadline.
            guard !deadline.hasPassed else { throw CallFailure.exhausted }
            let loan = try made(until: deadline)
            guard deadline.hasPassed else { return loan }
            // Too late for this caller, and there for the next one.
            keep(loan)
            throw CallFailure.late(isUndone: true)
        } catch {
            permits.signal()
            throw error
        }
    }

    /// A caller that has broken off in the middle of something must not ask to keep the connection.
    func giveBack(_ loan: Loan, keeping: Bool) {
        if keeping && loan.connection.isClean { keep(loan) }
        permits.signal()
    }

    private func keep(_ loan: Loan) {
        state.withLock { state in
            guard loan.generation == state.generation else { return }
            state.idle.append(Idle(connection: loan.connection, since: .now))
        }
    }

    /// Leaves all connections behind, because they lead to a server that takes no writes any more; but not all the time. With
    /// `target_session_attrs=read-write` in the URL libpq then finds the one that does.
    /// - Returns: whether it is worth trying again.
    func renew() -> Bool {
        // They are closed outside of the lock.
        let left = state.withLock { state -> [Idle]? in
            let now = ContinuousClock.now
            if let last = state.renewedAt, now < last + Self.renewalPause { return nil }
            state.renewedAt = now
            return state.leaveAll()
        }
        return left != nil
    }

    /// Leaves all connections behind, because the server has been silent on one of them: each would cost its caller the whole
    /// of its time. The next caller tries a new one; a caller that comes meanwhile is refused.
    /// - Parameter loan: if it was left behind before, its silence is no news.
    func suspect(_ loan: Loan) {
        let left = state.withLock { state in loan.generation == state.generation ? state.leaveAll() : nil }
        if left != nil { reachability.suspect(Self.silence) }
    }

    /// A server that was restarted has closed what lies here: it is looked at before it is lent.
    private func idle() -> Loan? {
        while true {
            // Those that are too old are closed outside of the lock.
            let (found, _) = state.withLock { state -> (Loan?, ArraySlice<Idle>) in
                let limit = ContinuousClock.now - Self.longestIdle
                let tooOld = state.idle.prefix { $0.since < limit }
                state.idle.removeFirst(tooOld.count)
                let last = state.idle.popLast()
                return (last.map { Loan(connection: $0.connection, generation: state.generation) }, tooOld)
            }
            guard let found else { return nil }
            if found.connection.isQuiet { return found }
        }
    }

    private func made(until deadline: Deadline) throws(CallFailure) -> Loan {
        let isTrial = try reachability.begin()
        let generation = state.withLock { $0.generation }
        do throws(CallFailure) {
            let connection = try Connection(library, settings, until: deadline)
            reachability.succeed()
            return Loan(connection: connection, generation: generation)
        } catch {
            let reason = Self.reason(error)
            reachability.fail(reason, isTrial: isTrial)
            throw .unreachable(reason: reason)
        }
    }

    private static func reason(_ failure: CallFailure) -> String {
        switch failure {
        case .unreachable(let reason): reason
        case .refused(let state): "the server refuses to begin a session: SQLSTATE \(state)"
        case .late, .silent: Self.silence
        default: "the server ended the connection while it began"
        }
    }
}
