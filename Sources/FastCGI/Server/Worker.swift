// SPDX-License-Identifier: Apache-2.0
import CPlatform
import Glibc
import HTTP
import Synchronization
import System

/// One thread that carries one request at a time from its first byte to its last.
final class Worker: Sendable {
    private struct CurrentRequest {
        /// The connection in hand.
        var connection: Connection?
        /// Since when it is, in milliseconds of the monotonic clock.
        var since: Int64 = 0
        /// When its answer must have been taken, in milliseconds of the monotonic clock; nil while none waits for the peer.
        var sendDeadline: Int64?
        /// Whether the worker still leads, so that no other has taken its place.
        var isLeading = false
    }

    private let current = Lock(CurrentRequest())
    private let hasThread = Atomic(false)

    /// True once, for the caller that starts the worker's thread.
    func start() -> Bool {
        hasThread.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged
    }

    var isStarted: Bool { hasThread.load(ordering: .acquiring) }

    /// Takes `start()` back: its thread could not be started.
    func stop() {
        hasThread.store(false, ordering: .releasing)
    }

    /// The descriptor of the connection in hand.
    var connectionNumber: Int32? { current.withLock { $0.connection?.number } }

    /// For how long the worker has had the request in hand, in milliseconds; 0 while it has none, nil where there is no
    /// worker yet.
    func busyMilliseconds(at now: Int64) -> Int64? {
        guard isStarted else { return nil }
        return current.withLock { $0.connection == nil ? 0 : now - $0.since }
    }

    /// Ends the connection in hand, so that a write to it returns: always, or only when its answer is overdue.
    /// - Returns: whether it did.
    func interrupt(overdueAt now: Int64? = nil) -> Bool {
        current.withLock { current in
            guard let connection = current.connection else { return false }
            if let now {
                guard let deadline = current.sendDeadline, deadline <= now else { return false }
                current.sendDeadline = nil
            }
            // Under the lock: the worker lets go of the connection before it closes the number.
            shutdown(connection.number, Int32(SHUT_RDWR))
            return true
        }
    }

    /// Ends the lead of a worker that serves a request: always, or only when it has done so since that time.
    /// - Returns: whether it did; then another worker must take its place.
    func stopLeading(servingSince time: Int64 = .max) -> Bool {
        current.withLock { current in
            guard current.isLeading, current.since <= time else { return false }
            current.isLeading = false
            return true
        }
    }

    /// The worker's whole life.
    /// - Parameters:
    ///   - codec: used by this worker only.
    ///   - startWorker: begins one more worker; false when that cannot be done.
    func run(in state: ServerState, codec: Codec, startWorker: @escaping @Sendable () -> Bool) {
        BlockingNotice.setObserver(Handover(worker: self, state: state, startWorker: startWorker))
        var buffer = ReceiveBuffer(limits: state.limits)
        let cycle = RequestCycle(codec: codec, state: state)
        while let connection = state.nextReady() {
            state.beginWork()
            let now = Deadline.now.milliseconds
            current.withLock { $0 = CurrentRequest(connection: connection, since: now, isLeading: true) }
            let next = serve(connection, &buffer, cycle, state)
            let isLeading = current.withLock { current in
                defer { current = CurrentRequest() }
                return current.isLeading
            }
            pass(connection, next, state)
            state.counters.endWork()
            if !isLeading { state.becomeFollower() }
        }
    }

    /// Puts another worker in the place of one that is about to block.
    private final class Handover: BlockingObserver {
        private let worker: Worker
        private let state: ServerState
        private let startWorker: @Sendable () -> Bool

        init(worker: Worker, state: ServerState, startWorker: @escaping @Sendable () -> Bool) {
            (self.worker, self.state, self.startWorker) = (worker, state, startWorker)
        }

        func threadWillBlock() {
            if worker.stopLeading() { state.handOver(startWorker: startWorker) }
        }
    }

    /// What to do with a connection after a worker had it.
    private enum Next {
        case keep, close, linger
        case wait(ReceiveBuffer)
        /// The request is put off, and needs no thread until this has ended.
        case postpone(ReceiveBuffer, any Postponement)
        case reject(RejectReason)
    }

    /// Reads what is there and answers it when it is a whole request.
    private func serve(
        _ connection: Connection, _ own: inout ReceiveBuffer, _ cycle: RequestCycle, _ state: ServerState
    ) -> Next {
        if let stored = connection.takeStored() {
            return answer(stored.buffer, after: stored.postponement, connection, cycle, state)
        }
        own.reset(limits: state.limits)
        own.receive(from: connection.number)
        if !own.isEmpty { connection.hasSpoken() }
        if own.mayHaveMore { connection.noteUnread() }
        return answer(own, after: nil, connection, cycle, state)
    }

    private func answer(
        _ buffer: ReceiveBuffer, after postponement: (any Postponement)?, _ connection: Connection,
        _ cycle: RequestCycle, _ state: ServerState
    ) -> Next {
        switch buffer.state {
        case .closed: return buffer.isEmpty ? .close : .reject(.connectionCutShort)
        case .checked(.invalid(let reason)): return .reject(reason)
        case .checked(.incomplete): return buffer.isEmpty ? .keep : .wait(buffer)
        case .checked(.complete(let length)):
            let outcome = cycle.answer(
                buffer, length: length, after: postponement, on: connection.number,
                beforeWaiting: { [self] in expectSending(state) })
            switch outcome {
            case .answered(let isKept): return isKept && !state.isDraining.load(ordering: .relaxed) ? .keep : .close
            case .postponed(let postponement): return .postpone(buffer.trimmed, postponement)
            }
        case .checked(.bodyTooLarge(let headLength)):
            state.counters.count(.bodyTooLarge)
            let isSent = cycle.answerTooLarge(
                buffer, headLength: headLength, on: connection.number, beforeWaiting: { [self] in expectSending(state) }
            )
            return isSent ? .linger : .close
        }
    }

    /// The peer does not take the answer at once.
    private func expectSending(_ state: ServerState) {
        BlockingNotice.post()
        let deadline = Deadline.now.milliseconds + Int64(state.limits.sendSeconds) * 1000
        // Of the whole answer, however often the peer keeps it waiting.
        current.withLock { if $0.sendDeadline == nil { $0.sendDeadline = deadline } }
    }

    private func pass(_ connection: Connection, _ next: Next, _ state: ServerState) {
        switch next {
        case .keep: state.release(connection)
        case .close: state.close(connection)
        case .reject(let reason): state.reject(connection, reason)
        case .linger:
            shutdown(connection.number, Int32(SHUT_WR))
            state.linger(connection)
        case .wait(let buffer): state.park(connection, with: buffer)
        case .postpone(let buffer, let postponement): state.postpone(connection, buffer, until: postponement)
        }
    }
}
