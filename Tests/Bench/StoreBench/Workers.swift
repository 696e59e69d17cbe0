// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Threads that all begin at once and whose end is waited for.
enum Workers {
    private final class Worker {
        let number: Int
        let body: @Sendable (Int) -> [UInt64]
        var result: [UInt64] = []

        init(_ number: Int, _ body: @escaping @Sendable (Int) -> [UInt64]) {
            (self.number, self.body) = (number, body)
        }
    }

    /// - Returns: what the calls of `body`, one on each thread with its number, have returned.
    static func run(_ count: Int, _ body: @escaping @Sendable (Int) -> [UInt64]) -> [UInt64] {
        let workers = (0..<max(1, count)).map { Worker($0, body) }
        let threads = workers.map { worker in
            var thread = pthread_t()
            let code = pthread_create(
                &thread, nil,
                { argument in
                    guard let argument else { return nil }
                    let worker = Unmanaged<Worker>.fromOpaque(argument).takeUnretainedValue()
                    worker.result = worker.body(worker.number)
                    return nil
                }, Unmanaged.passUnretained(worker).toOpaque())
            guard code == 0 else { exit(71) }
            return thread
        }
        for thread in threads { pthread_join(thread, nil) }
        return workers.flatMap(\.result)
    }
}
