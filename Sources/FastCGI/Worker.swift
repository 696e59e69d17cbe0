// SPDX-License-Identifier: Apache-2.0
import CPlatform
import Glibc
import Synchronization
import System

/// One thread that carries one request at a time from its first byte to its last.
final class Worker: Sendable {
    private struct Duty {
        /// The connection in hand.
        var connection: Connection?
        /// Since when it is, in milliseconds of the monotonic clock.
        var since: Int64 = 0
        /// When its answer must have been taken, in milliseconds of the monotonic clock.
        var sendDeadline: Int64?
    }

    private let duty = Lock(Duty())
    private let isHired = Atomic(false)

    /// True once, for whoever begins the worker's thread.
    func hire() -> Bool {
        isHired.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged
    }

    /// There is no thread for it after all.
    func dismiss() {
        isHired.store(false, ordering: .releasing)
    }

    /// The descriptor of the connection in hand.
    var heldNumber: Int32? { duty.withLock { $0.connection?.number } }

    /// For how long the worker has had the request in hand, in milliseconds; 0 while it has none, nil where there is no
    /// worker yet.
    func busyMilliseconds(at now: Int64) -> Int64? {
        guard isHired.load(ordering: .acquiring) else { return nil }
        return duty.withLock { $0.connection == nil ? 0 : now - $0.since }
    }

    /// Ends the connection in hand, so that a write to it returns: always, or only when its answer is overdue.
    /// - Returns: whether it did.
    func interrupt(overdueAt now: Int64? = nil) -> Bool {
        duty.withLock { duty in
            guard let connection = duty.connection else { return false }
            if let now {
                guard let deadline = duty.sendDeadline, deadline <= now else { return false }
                duty.sendDeadline = nil
            }
            // Under the lock: the worker lets go of the connection before it closes the number.
            shutdown(connection.number, Int32(SHUT_RDWR))
            return true
        }
    }

    /// The worker's whole life.
    /// - Parameters:
    ///   - codec: its own, and nobody else's.
    ///   - hire: begins one more worker; false when that cannot be done.
    func run(in state: ServerState, codec: Codec, hire: () -> Bool) {
        var inbox = Inbox(limits: state.limits)
        let exchange = Exchange(codec: codec, state: state)
        while let connection = state.nextReady(hire: hire) {
            state.meters.beginWork()
            duty.withLock { $0 = Duty(connection: connection, since: monotonicMilliseconds()) }
            let next = attend(connection, &inbox, exchange, state)
            duty.withLock { $0 = Duty() }
            pass(connection, next, state)
            state.meters.endWork()
            state.rest()
        }
    }

    /// What becomes of a connection after a worker had it.
    private enum Next {
        case keep, close, linger
        case wait(Inbox)
        case refuse(Refusal)
    }

    /// Reads what is there and answers it when it is a whole request.
    private func attend(
        _ connection: Connection, _ own: inout Inbox, _ exchange: Exchange, _ state: ServerState
    ) -> Next {
        if let stored = connection.takeStored() {
            return answer(stored, connection, exchange, state)
        }
        own.reset(limits: state.limits)
        own.receive(from: connection.number)
        if !own.isEmpty { connection.hasSpoken() }
        return answer(own, connection, exchange, state)
    }

    private func answer(
        _ inbox: Inbox, _ connection: Connection, _ exchange: Exchange, _ state: ServerState
    ) -> Next {
        switch inbox.standing {
        case .closed: return inbox.isEmpty ? .close : .refuse(.connectionCutShort)
        case .verdict(.wrong(let refusal)): return .refuse(refusal)
        case .verdict(.incomplete): return inbox.isEmpty ? .keep : .wait(inbox)
        case .verdict(.complete(let length)):
            let isKept = exchange.answer(
                inbox, length: length, on: connection.number, beforeSending: expectSending(state))
            return isKept && !state.isDraining.load(ordering: .relaxed) ? .keep : .close
        case .verdict(.bodyTooLarge(let headLength)):
            state.meters.count(.bodyTooLarge)
            let isSent = exchange.answerTooLarge(
                inbox, headLength: headLength, on: connection.number, beforeSending: expectSending(state))
            return isSent ? .linger : .close
        }
    }

    private func expectSending(_ state: ServerState) -> () -> Void {
        {
            let deadline = monotonicMilliseconds() + Int64(state.limits.sendSeconds) * 1000
            self.duty.withLock { $0.sendDeadline = deadline }
        }
    }

    private func pass(_ connection: Connection, _ next: Next, _ state: ServerState) {
        switch next {
        case .keep: state.arm(connection)
        case .close: state.close(connection)
        case .refuse(let refusal): state.refuse(connection, refusal)
        case .linger:
            shutdown(connection.number, Int32(SHUT_WR))
            state.linger(connection)
        case .wait(let inbox): state.park(connection, with: inbox)
        }
    }
}
