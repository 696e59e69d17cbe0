// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTP
import HTTPTypes
import Logging
import Synchronization
import System

/// A FastCGI responder (FastCGI 1.0) under a web server: every request that passes the validator becomes a `Request`, and
/// what the responder makes of it goes back.
///
/// One event thread accepts; workers carry the requests. An idle connection costs neither, however many the web server
/// keeps. `Signals.block()` belongs before the first server of a process.
package final class Server: Sendable {
    private let listener: Listener
    private let limits: ServerLimits
    private let state: ServerState
    private let workers: [Worker]
    private let running = Atomic(0)
    /// Whether the last worker that was needed could not be had.
    private let lacksWorkers = Atomic(false)

    /// Makes a server ready; it accepts nothing before `run()`. Raises the process's soft limit of open descriptors,
    /// as far as the hard one lets it, to what the limits need.
    /// - Parameters:
    ///   - refuse: makes the answer to what never reaches the responder (400, 413) and to what it throws (500).
    ///   - responder: is called on many threads at once.
    /// - Throws: `ServerError`, for a limit that makes no sense or when the system has no descriptors.
    package init(
        listener: Listener, limits: ServerLimits = ServerLimits(), logger: Logger,
        refuse: @escaping @Sendable (HTTPResponse.Status) -> Response = { Response(status: $0) },
        responder: any Responder
    ) throws(ServerError) {
        if let fault = limits.fault { throw .badLimit(fault) }
        self.listener = listener
        self.limits = limits
        Self.raiseDescriptorLimit(limits)
        state = try ServerState(limits: limits, logger: logger, refuse: refuse, responder: responder)
        workers = (0..<limits.workers).map { _ in Worker() }
    }

    /// Serves until `stop()`; to be called once. Returns when the requests in flight are answered or `drainSeconds` are
    /// over; a responder that is still at work then keeps its thread and loses its connection.
    /// - Parameter onReady: called once, when all that is needed to answer is there.
    /// - Throws: `ServerError.noThread`, `.noDescriptor`, before anything was accepted. Workers that are needed later
    ///   and cannot be had are an error in the log; the others do their work.
    package func run(onReady: () -> Void = {}) throws(ServerError) {
        defer { end() }
        for _ in 0..<min(ServerState.leaders, limits.workers) { try startWorker() }
        onReady()
        var events = EventLoop(state: state, listener: listener, workers: workers, startWorker: tryStartWorker)
        events.run()
    }

    /// Asks `run()` to return. May be called from any thread, and more than once.
    package func stop() {
        state.isDraining.store(true, ordering: .releasing)
        state.wakeUp.signal()
    }

    /// How busy it is now.
    package var status: ServerStatus {
        ServerStatus(
            workers: limits.workers, workersBusy: state.counters.busy.load(ordering: .relaxed),
            connections: state.connections.count, waiting: state.pending.incompleteCount,
            postponed: state.postponed.count,
            answered: state.counters.answered.load(ordering: .relaxed), refused: state.counters.rejections,
            isDraining: state.isDraining.load(ordering: .relaxed))
    }

    /// What a watchdog compares to know whether the server is at work.
    package var liveness: ServerLiveness {
        let now = Deadline.now.milliseconds
        // The next sign must not wait for the next request.
        defer { state.wakeUp.signal() }
        // A worker that is free, that has begun a request since, or that can still be started takes the next.
        let canStart = !lacksWorkers.load(ordering: .relaxed) && workers.contains { !$0.isStarted }
        let shortest: Int64? = canStart ? 0 : workers.compactMap { $0.busyMilliseconds(at: now) }.min()
        return ServerLiveness(
            iterations: state.counters.iterations.load(ordering: .relaxed), exhausted: .milliseconds(shortest ?? 0))
    }
}

extension Server {
    private func startWorker() throws(ServerError) {
        // Each goes to one thread, which makes it its own.
        nonisolated(unsafe) let codec = Codec()
        guard let worker = workers.first(where: { $0.start() }) else { return }
        running.wrappingAdd(1, ordering: .acquiringAndReleasing)
        do {
            try PlatformThread.start { [self] in
                worker.run(in: state, codec: codec, startWorker: tryStartWorker)
                running.wrappingSubtract(1, ordering: .acquiringAndReleasing)
                state.wakeUp.signal()
            }
        } catch {
            worker.stop()
            running.wrappingSubtract(1, ordering: .acquiringAndReleasing)
            throw error
        }
    }

    private func tryStartWorker() -> Bool {
        do throws(ServerError) {
            try startWorker()
            lacksWorkers.store(false, ordering: .relaxed)
            return true
        } catch {
            // Said once, not at every request.
            if !lacksWorkers.exchange(true, ordering: .relaxed) {
                state.logger.error("No further worker", metadata: ["error": "\(error)"])
            }
            return false
        }
    }

    /// Milliseconds that idle workers get to end; they need less than one.
    private static let farewell: Int64 = 1000

    private func end() {
        state.finish()
        let deadline = Deadline.now.milliseconds + Self.farewell
        // A worker that is still busy here has had the whole drain.
        while running.load(ordering: .acquiring) > workers.count(where: { $0.connectionNumber != nil }),
            Deadline.now.milliseconds < deadline
        {
            if state.events.next(milliseconds: 10) == state.wakeUp.number { state.wakeUp.drain() }
        }
        let late = workers.filter { $0.interrupt() }
        if !late.isEmpty {
            state.logger.warning("Requests unfinished after the drain", metadata: ["count": "\(late.count)"])
        }
        state.connections.closeAll(except: Set(late.compactMap(\.connectionNumber)))
    }

    /// Descriptors besides connections: standard streams, pollers, the responder's own (log, store, calls to the hub).
    private static let otherDescriptors = 1024

    private static func raiseDescriptorLimit(_ limits: ServerLimits) {
        var current = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &current) == 0 else { return }
        let needed = rlim_t(limits.connections + limits.workers + otherDescriptors)
        guard current.rlim_cur < needed else { return }
        current.rlim_cur = min(needed, current.rlim_max)
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &current)
    }
}
