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
    /// Connections that wait for a worker.
    private let ready: ReadyConnections
    /// Which of the workers that are free wait at `ready`.
    private let leaderFollowers: LeaderFollowers
    /// The event thread's own: the listener, `wakeUp`, the pending connections.
    let events: Poller
    /// Wakes the event thread.
    let wakeUp: EventFD
    let isDraining = Atomic(false)
    /// Set while the event thread does not look after the workers, because none was busy; then one that begins wakes it.
    private let isUnattended = Atomic(false)
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
        guard let events = Poller() else { throw .noDescriptor("epoll_create1: \(numberedErrorText())") }
        guard let wakeUp = EventFD() else { throw .noDescriptor("eventfd: \(numberedErrorText())") }
        (self.events, self.wakeUp) = (events, wakeUp)
        ready = try ReadyConnections(connections, leaders: Self.leaders)
        leaderFollowers = try LeaderFollowers(workers: limits.workers, size: Self.leaders)
        guard events.add(wakeUp.number, .readable) else { throw .noDescriptor("epoll_ctl: \(numberedErrorText())") }
    }

    /// Workers that take requests at a time, those that are blocked aside: the web server needs the other half of the
    /// processors.
    static let leaders = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)) / 2)

    /// A worker begins a request.
    func beginWork() {
        counters.beginWork()
        guard isUnattended.load(ordering: .sequentiallyConsistent),
            isUnattended.exchange(false, ordering: .sequentiallyConsistent)
        else { return }
        wakeUp.signal()
    }

    /// The event thread stops looking after the workers until one begins a request.
    /// - Returns: false when one is busy, or has begun one meanwhile.
    func leaveWorkersUnattended() -> Bool {
        isUnattended.store(true, ordering: .sequentiallyConsistent)
        guard counters.busy.load(ordering: .sequentiallyConsistent) > 0 else { return true }
        isUnattended.store(false, ordering: .sequentiallyConsistent)
        return false
    }

    /// A worker that has handed over is free again; returns when it should ask for the next connection.
    func becomeFollower() {
        leaderFollowers.becomeFollower()
    }

    /// A worker that leads is about to block, or seems to be: another takes its place.
    /// - Parameter startWorker: begins one more worker; false when that cannot be done.
    func handOver(startWorker: () -> Bool) {
        if leaderFollowers.promote() == .start, !startWorker() { leaderFollowers.startFailed() }
    }

    /// Tries again to start a leader where there is none, so that no request waits for a busy worker.
    /// - Parameter startWorker: as in `handOver(startWorker:)`.
    func ensureLeader(startWorker: () -> Bool) {
        if leaderFollowers.needsLeader(), !startWorker() { leaderFollowers.startFailed() }
    }

    /// The next connection with something to read, for one worker; nil at the end.
    func nextReady() -> Connection? {
        while !isFinished.load(ordering: .acquiring) {
            if let connection = ready.next() { return connection }
        }
        return nil
    }

    /// Ends the workers, each after the request that it carries.
    func finish() {
        isFinished.store(true, ordering: .releasing)
        ready.end()
        leaderFollowers.end()
    }

    /// Takes a new connection in, which goes to the next free worker as soon as it has something to read.
    func admit(_ connection: Connection) {
        connections.insert(connection)
        if !ready.watch(connection) { close(connection) }
    }

    /// Gives a connection to the next free worker as soon as it has something more to read.
    func release(_ connection: Connection) {
        if !connection.release() { ready.add(connection) }
    }

    /// Gives a connection whose request is whole to the next free worker.
    func resume(_ connection: Connection) { ready.add(connection) }

    /// Gives a connection to the event thread, with what has arrived of a request.
    func park(_ connection: Connection, with buffer: ReceiveBuffer) {
        let deadline = Deadline.now.milliseconds + Int64(limits.receiveSeconds) * 1000
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
        let source = postponement.source
        connection.store(buffer, postponement)
        postponement.onEnd { [self] in
            counters.activity.wrappingAdd(1, ordering: .relaxed)
            resume(connection)
            // Last: a drain waits for what is in here.
            postponed.leave(source, bytes: bytes)
        }
    }

    /// Milliseconds that a connection may go on sending after a 413.
    private static let lingerMilliseconds: Int64 = 2000

    /// Gives a connection that is answered and half closed to the event thread.
    func linger(_ connection: Connection) {
        _ = pending.enter(
            connection, .lingering, bytes: 0, deadline: Deadline.now.milliseconds + Self.lingerMilliseconds)
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
