// SPDX-License-Identifier: Apache-2.0
import Glibc
import Testing

extension Trait where Self == OwnThread {
    /// For what waits for long: meanwhile others have the thread that this would hold.
    static var onThreadOfItsOwn: Self { Self() }
}

/// Tests run on as many threads as there are cores, and one that waits for another process holds one all the while.
struct OwnThread: TestTrait, TestScoping {
    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(ThreadForEach(), operation: function)
    }
}

/// A new thread for each job.
private final class ThreadForEach: TaskExecutor {
    private final class Work {
        let job: UnownedJob
        let executor: ThreadForEach

        init(_ job: UnownedJob, _ executor: ThreadForEach) {
            (self.job, self.executor) = (job, executor)
        }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        var thread = pthread_t()
        let work = Unmanaged.passRetained(Work(UnownedJob(job), self))
        let failure = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                let work = Unmanaged<Work>.fromOpaque(argument).takeRetainedValue()
                work.job.runSynchronously(on: work.executor.asUnownedTaskExecutor())
                return nil
            }, work.toOpaque())
        precondition(failure == 0, "no thread for a test: \(failure)")
        pthread_detach(thread)
    }
}
