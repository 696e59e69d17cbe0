// SPDX-License-Identifier: Apache-2.0
import CPlatform
import Glibc
import Synchronization
import System

/// Accepts connections, receives requests that arrive in pieces, and keeps all deadlines; never blocks but in its poller.
struct EventLoop: ~Copyable {
    /// Milliseconds between two looks at the deadlines. They are seconds.
    static let tick: Int64 = 1000
    /// The same while connections that could not be accepted wait.
    static let acceptTick: Int64 = 250
    /// Milliseconds that a request keeps its worker from taking others before another worker takes them: what posts no
    /// `BlockingNotice` costs the others no more than twice that.
    static let patience: Int64 = 10
    /// Milliseconds without anything happening after which a drain is over: what nginx had already sent when the server
    /// stopped has then been answered.
    static let quiet: Int64 = 100
    /// Connections accepted, or pieces thrown away, in one go.
    static let batch = 64

    private let state: ServerState
    private let listener: Listener
    private let workers: [Worker]
    private let startWorker: () -> Bool
    private var nextCheck: Int64 = 0
    private var nextWatch: Int64 = 0
    /// `activity` at the last look at the workers.
    private var lastActivity = 0
    private var isAccepting = false
    /// Where bytes are read to that are thrown away.
    private var trash = [UInt8](repeating: 0, count: ReceiveBuffer.firstRoom)

    init(state: ServerState, listener: Listener, workers: [Worker], startWorker: @escaping () -> Bool) {
        self.startWorker = startWorker
        self.state = state
        self.listener = listener
        self.workers = workers
    }

    /// Serves until `stop`, then until it is quiet or the drain is over.
    ///
    /// A web server opens a connection to send a request in the next moment; one that was accepted and then closed unread
    /// would be a request refused that could have waited for the next process. So it is not quiet before that has come.
    mutating func run() {
        resumeAccepting()
        while !state.isDraining.load(ordering: .acquiring) { poll(milliseconds: pause()) }
        pauseAccepting()
        listener.unlinkSocket()
        drain(until: Deadline.now.milliseconds + Int64(state.limits.drainSeconds) * 1000)
    }

    /// For how long nothing needs to be looked at.
    private mutating func pause() -> Int64 {
        let activity = state.counters.activity.load(ordering: .relaxed)
        defer { lastActivity = activity }
        guard activity == lastActivity, state.leaveWorkersUnattended() else { return Self.patience }
        return isAccepting ? Self.tick : Self.acceptTick
    }

    private mutating func drain(until deadline: Int64) {
        var lastActivity = state.counters.activity.load(ordering: .relaxed)
        var lastChange = Deadline.now.milliseconds
        while true {
            poll(milliseconds: Self.quiet / 4)
            let now = Deadline.now.milliseconds
            let activity = state.counters.activity.load(ordering: .relaxed)
            let isBusy =
                state.counters.busy.load(ordering: .relaxed) > 0 || state.pending.incompleteCount > 0
                || state.postponed.count > 0 || state.connections.hasUnread
            if activity != lastActivity || isBusy {
                lastActivity = activity
                lastChange = now
            }
            if now >= deadline || now - lastChange >= Self.quiet { return }
        }
    }

    /// One event, or the time, then the deadlines when they are due.
    mutating func poll(milliseconds: Int64) {
        state.counters.iterations.wrappingAdd(1, ordering: .relaxed)
        if let number = state.events.next(milliseconds: Int32(clamping: milliseconds)) {
            switch number {
            case listener.descriptor.number: acceptAll()
            case state.wakeUp.number:
                state.wakeUp.drain()
                resumeAccepting()
            default: receive(number)
            }
        }
        let now = Deadline.now.milliseconds
        if now >= nextWatch {
            nextWatch = now + Self.patience
            relieveWorkers(now)
        }
        guard now >= nextCheck else { return }
        nextCheck = now + (isAccepting ? Self.tick : Self.acceptTick)
        checkDeadlines(now)
    }

    /// Puts others in the place of workers that have had their request for too long.
    private func relieveWorkers(_ now: Int64) {
        for worker in workers where worker.isStarted && worker.stopLeading(servingSince: now - Self.patience) {
            state.handOver(startWorker: startWorker)
        }
    }

    private mutating func checkDeadlines(_ now: Int64) {
        for (connection, reason) in state.pending.overdue(at: now) {
            switch reason {
            case .incomplete: state.reject(connection, .receiveTimeout)
            case .lingering: state.close(connection)
            }
        }
        for _ in 0..<state.connections.endSilent(at: now) { state.logRejection(.receiveTimeout) }
        for worker in workers where worker.interrupt(overdueAt: now) { state.counters.count(.sendTimeout) }
        state.ensureLeader(startWorker: startWorker)
        resumeAccepting()
    }
}

extension EventLoop {
    private mutating func resumeAccepting() {
        guard !isAccepting, !state.isDraining.load(ordering: .acquiring),
            state.connections.count < state.limits.connections
        else { return }
        state.isFull.store(false, ordering: .releasing)
        isAccepting = state.events.add(listener.descriptor.number, .readable)
    }

    private mutating func pauseAccepting() {
        guard isAccepting else { return }
        state.events.remove(listener.descriptor.number)
        isAccepting = false
    }

    private mutating func acceptAll() {
        listener.ensureNonBlocking()
        for _ in 0..<Self.batch {
            guard state.connections.count < state.limits.connections else {
                pauseAccepting()
                // Before the second look: a thread that closes a connection from here on wakes this one.
                state.isFull.store(true, ordering: .sequentiallyConsistent)
                return resumeAccepting()
            }
            let number = platform_accept(listener.descriptor.number)
            if number >= 0 {
                admit(number)
            } else if errno == EAGAIN {
                return
            } else if errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM {
                // `checkDeadlines` tries again; until then the connection waits in the backlog.
                state.logger.error("Cannot accept", metadata: ["error": "\(numberedErrorText())"])
                return pauseAccepting()
            }
        }
    }

    private func admit(_ number: Int32) {
        var limit = timeval(tv_sec: state.limits.sendSeconds, tv_usec: 0)
        setsockopt(number, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        if listener.isTCP {
            var on: Int32 = 1
            setsockopt(number, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        }
        let deadline = Deadline.now.milliseconds + Int64(state.limits.receiveSeconds) * 1000
        state.admit(Connection(number, silentUntil: deadline))
    }

    /// Takes what has arrived on a pending connection.
    private mutating func receive(_ number: Int32) {
        state.counters.activity.wrappingAdd(1, ordering: .relaxed)
        guard let (connection, reason) = state.pending.find(number) else { return }
        switch reason {
        case .lingering: throwAway(connection)
        case .incomplete:
            guard var buffer = connection.takeStored()?.buffer else { return }
            buffer.receive(from: number)
            decide(connection, buffer)
        }
    }

    private func decide(_ connection: Connection, _ buffer: ReceiveBuffer) {
        switch buffer.state {
        case .checked(.incomplete):
            guard !state.pending.resize(connection, bytes: buffer.room) else { return connection.store(buffer) }
            leave(connection)
            state.reject(connection, .waitingRoomFull)
        case .checked(.complete), .checked(.bodyTooLarge):
            leave(connection)
            connection.store(buffer)
            state.resume(connection)
        case .checked(.invalid(let reason)):
            leave(connection)
            state.reject(connection, reason)
        case .closed:
            leave(connection)
            state.reject(connection, .connectionCutShort)
        }
    }

    private func leave(_ connection: Connection) {
        state.pending.leave(connection)
        state.events.remove(connection.number)
    }

    private mutating func throwAway(_ connection: Connection) {
        for _ in 0..<Self.batch {
            let count = platform_receive(connection.number, &trash, trash.count)
            if count > 0 { continue }
            if count < 0 && (errno == EAGAIN || errno == EINTR) { return }
            leave(connection)
            return state.close(connection)
        }
    }
}
