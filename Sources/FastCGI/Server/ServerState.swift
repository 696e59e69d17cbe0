// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTP
import HTTPTypes
import Logging
import Synchronization
import System

/// What the event thread and the workers of one server share. A worker that outlives the drain keeps it alive,
/// descriptors included, so that the worker never uses a number that was closed and given out again.
final class ServerState: Sendable {
    let limits: ServerLimits
    let logger: Logger
    let responder: any Responder
    let refuse: @Sendable (HTTPResponse.Status) -> Response
    let counters = Counters()
    let connections = ConnectionTable()
    let pending: PendingConnections
    let postponed: PostponedRequests
    /// Connections that wait for a worker, each armed for one thread.
    let ready: Poller
    /// Which of the idle workers wait at `ready`.
    private let leaderFollowers: LeaderFollowers
    /// The event thread's own: the listener, `wakeUp`, the pending connections.
    let events: Poller
    /// Wakes the event thread.
    let wakeUp: EventFD
    /// Signalled once, for all workers: the end.
    private let endSignal: EventFD
    let isDraining = Atomic(false)
    private let isFinished = Atomic(false)
    /// Set while the event thread does not accept; then the thread that closes a connection wakes it.
    let isFull = Atomic(false)

    /// - Throws: `ServerError.noDescriptor`.
    init(
        limits: ServerLimits, logger: Logger, refuse: @escaping @Sendable (HTTPResponse.Status) -> Response,
        responder: any Responder
    ) throws(ServerError) {
        self.limits = limits
        self.logger = logger
        self.refuse = refuse
        pending = PendingConnections(capacity: limits.waitingBytes)
        postponed = PostponedRequests(
            // The other half of the connections is for requests that need not wait.
            capacity: limits.waitingBytes, maximumCount: max(1, limits.connections / 2))
        self.responder = responder
        guard let ready = Poller(), let events = Poller() else {
            throw .noDescriptor("epoll_create1: \(systemErrorText())")
        }
        guard let wakeUp = EventFD(), let endSignal = EventFD() else {
            throw .noDescriptor("eventfd: \(systemErrorText())")
        }
        (self.ready, self.events, self.wakeUp, self.endSignal) = (ready, events, wakeUp, endSignal)
        leaderFollowers = try LeaderFollowers(workers: limits.workers, size: Self.leaders)
        guard events.add(wakeUp.number, .readable), ready.add(endSignal.number, .readable) else {
            throw .noDescriptor("epoll_ctl: \(systemErrorText())")
        }
    }

    /// Idle workers that wait at `ready` at a time. Requests per second on two cores, behind nginx: 45,200 with 2,
    /// 47,800 with 4, 38,300 with 8, 34,200 with 64.
    static let leaders = 4

    /// The worker that took a connection is done with it; returns when it should ask for the next.
    func becomeFollower() {
        leaderFollowers.becomeFollower()
    }

    /// Tries again to start a leader where there is none, so that no request waits for a busy worker.
    /// - Parameter startWorker: as in `nextReady(startWorker:)`.
    func ensureLeader(startWorker: () -> Bool) {
        if leaderFollowers.needsLeader(), !startWorker() { leaderFollowers.startFailed() }
    }

    /// The next connection with something to read, for one worker; nil at the end.
    /// - Parameter startWorker: begins one more worker; false when that cannot be done.
    func nextReady(startWorker: () -> Bool) -> Connection? {
        while !isFinished.load(ordering: .acquiring) {
            guard let number = ready.next(), let connection = connections[number] else { continue }
            if leaderFollowers.promote() == .start, !startWorker() { leaderFollowers.startFailed() }
            return connection
        }
        return nil
    }

    /// Ends the workers, each after the request that it carries.
    func finish() {
        isFinished.store(true, ordering: .releasing)
        endSignal.signal()
        leaderFollowers.end()
    }

    /// Gives a connection to the next free worker as soon as it has something to read.
    func arm(_ connection: Connection) {
        if !ready.change(connection.number, [.readable, .once]) { close(connection) }
    }

    /// Gives a connection whose request is whole to the next free worker: it is writable, so poll reports it at once.
    func armComplete(_ connection: Connection) {
        if !ready.change(connection.number, [.readable, .writable, .once]) { close(connection) }
    }

    /// Gives a connection to the event thread, with what has arrived of a request.
    func park(_ connection: Connection, with buffer: ReceiveBuffer) {
        let deadline = monotonicMilliseconds() + Int64(limits.receiveSeconds) * 1000
        guard pending.enter(connection, .incomplete, bytes: buffer.room, deadline: deadline) else {
            return reject(connection, .waitingRoomFull)
        }
        connection.store(buffer)
        watch(connection)
    }

    /// Leaves a connection without a thread until what its request waits for has ended.
    /// - Parameter buffer: the whole request, for which `postponed` has room.
    func postpone(_ connection: Connection, _ buffer: ReceiveBuffer, until postponement: any Postponement) {
        let bytes = buffer.room
        connection.store(buffer, postponement)
        postponement.onEnd { [self] in
            counters.activity.wrappingAdd(1, ordering: .relaxed)
            armComplete(connection)
            // Last: a drain waits for what is in here.
            postponed.leave(bytes: bytes)
        }
    }

    /// Milliseconds that a connection may go on sending after a 413.
    private static let lingerMilliseconds: Int64 = 2000

    /// Gives a connection that is answered and half closed to the event thread.
    func linger(_ connection: Connection) {
        _ = pending.enter(
            connection, .lingering, bytes: 0, deadline: monotonicMilliseconds() + Self.lingerMilliseconds)
        watch(connection)
    }

    private func watch(_ connection: Connection) {
        guard events.add(connection.number, .readable) else {
            pending.leave(connection)
            return close(connection)
        }
    }

    func close(_ connection: Connection) {
        connections.close(connection)
        if isFull.load(ordering: .sequentiallyConsistent) { wakeUp.signal() }
    }

    func reject(_ connection: Connection, _ reason: RejectReason) {
        logRejection(reason)
        close(connection)
    }

    /// Counts and logs a rejection.
    func logRejection(_ reason: RejectReason) {
        counters.count(reason)
        logger.notice("Refused a connection", metadata: ["reason": "\(reason.rawValue)"])
    }
}
