// SPDX-License-Identifier: Apache-2.0
import Store
import System

/// Threads that flush files beside the one that waits for several: a disk that takes milliseconds for a flush takes little
/// longer for some at the same time. They end when there was nothing to do for a while.
final class FlushHelpers: Sendable {
    private static let maximumThreads = 8
    private static let idleTime = Duration.seconds(5)

    typealias Job = @Sendable () -> Void

    private struct State {
        var jobs: [Job] = []
        var threads = 0
        var idle = 0
    }

    private let state = Lock(State())
    private let work = Semaphore()

    /// - Returns: false when all threads have work: the caller does it then.
    func begin(_ job: @escaping Job) -> Bool {
        let (isTaken, isNew) = state.withLock { state -> (Bool, Bool) in
            let hasIdle = state.idle > state.jobs.count
            guard hasIdle || state.threads < Self.maximumThreads else { return (false, false) }
            if !hasIdle { state.threads += 1 }
            state.jobs.append(job)
            return (true, !hasIdle)
        }
        guard isTaken else { return false }
        work.signal()
        if isNew, DetachedThread.start({ self.run() }) != 0 { runAsCaller() }
        return true
    }

    /// The system has refused the thread.
    private func runAsCaller() {
        let job = state.withLock { state -> Job? in
            state.threads -= 1
            return state.jobs.popLast()
        }
        job?()
    }

    private func run() {
        while let job = next() { job() }
    }

    /// - Returns: nil when the thread is to end.
    private func next() -> Job? {
        state.withLock { $0.idle += 1 }
        _ = work.wait(for: Self.idleTime)
        return state.withLock { state -> Job? in
            state.idle -= 1
            if let job = state.jobs.popLast() { return job }
            state.threads -= 1
            return nil
        }
    }
}

extension StoreContext {
    /// Flushes the files at the same time, each once.
    /// - Throws: as `flush(_:)`, when all of them are done.
    func flush(_ buckets: [BucketWriter]) throws(StoreError) {
        let unflushed = buckets.compactMap(\.unflushed)
        // Of two writers of one file the first may have been told more of it (`SharedFlushes`).
        let files = Dictionary(unflushed.map { ($0.key, $0) }) { first, _ in first }.values
        guard let own = files.first else { return }
        let others = files.dropFirst()
        for file in others { file.descriptor.startWriting() }
        let begun = others.map { BegunFlush($0, self) }
        let failures = [Self.failure { () throws(StoreError) in try flush(own) }] + begun.map { $0.wait() }
        if let failure = failures.lazy.compactMap(\.self).first { throw failure }
    }

    static func failure(_ body: () throws(StoreError) -> Void) -> StoreError? {
        do throws(StoreError) {
            try body()
            return nil
        } catch {
            return error
        }
    }
}

/// A flush that another thread makes, where there is one.
private final class BegunFlush: Sendable {
    private let isDone = Semaphore()
    private let failure = Lock<StoreError?>(nil)

    init(_ file: UnflushedFile, _ context: StoreContext) {
        let flush: FlushHelpers.Job = {
            let failure = StoreContext.failure { () throws(StoreError) in try context.flush(file) }
            self.failure.withLock { $0 = failure }
            self.isDone.signal()
        }
        if !context.helpers.begin(flush) { flush() }
    }

    func wait() -> StoreError? {
        isDone.wait()
        return failure.withLock { $0 }
    }
}

/// Files that were appended to and are flushed together, some at a time: each that is open counts against the process.
struct FlushBatch {
    private let context: StoreContext
    private let maximumFiles: Int
    private var buckets: [BucketWriter] = []

    init(_ context: StoreContext, maximumFiles: Int) {
        (self.context, self.maximumFiles) = (context, maximumFiles)
    }

    mutating func add(_ bucket: BucketWriter) throws(StoreError) {
        buckets.append(bucket)
        if buckets.count >= maximumFiles { try finish() }
    }

    mutating func finish() throws(StoreError) {
        try context.flush(buckets)
        buckets = []
    }
}
