// SPDX-License-Identifier: Apache-2.0
import Glibc

import class System.Lock

/// A call that goes on beside the test.
package final class Background<Outcome: Sendable>: Sendable {
    package struct NotEnded: Error {}

    private let result = Lock<Result<Outcome, any Error>?>(nil)

    /// Begins it on a thread of its own.
    package init(_ body: @escaping @Sendable () throws -> Outcome) {
        let run: @Sendable () -> Void = { [self] in
            let outcome = Result { try body() }
            result.withLock { $0 = outcome }
        }
        var thread = pthread_t()
        pthread_create(
            &thread, nil,
            { argument in
                if let argument { Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run() }
                return nil
            }, Unmanaged.passRetained(Body(run)).toOpaque())
        pthread_detach(thread)
    }

    /// - Throws: what the call has thrown; `NotEnded`, when it has not ended in time.
    package func outcome(seconds: Int) throws -> Outcome {
        Deadline.poll(seconds: seconds) { result.withLock { $0 != nil } }
        guard let result = result.withLock(\.self) else { throw NotEnded() }
        return try result.get()
    }
}

private final class Body: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) {
        self.run = run
    }
}
