// SPDX-License-Identifier: Apache-2.0
import HTTP
import System

/// Where a caller sleeps until the outcome of its request is there. The outcome or the deadline, whichever is first,
/// decides; the other is dropped.
final class ResponseFuture: Sendable {
    private let outcome = Lock<Result<Response, TransportError>?>(nil)
    private let latch = Latch()

    /// Wakes the caller, if it still waits.
    func fulfill(_ outcome: Result<Response, TransportError>) {
        self.outcome.withLock { if $0 == nil { $0 = outcome } }
        latch.open()
    }

    /// - Throws: `timedOut`, when the deadline passes first; otherwise what was put.
    func wait(until deadline: Deadline) throws(TransportError) -> Response {
        latch.wait(until: deadline)
        let outcome = outcome.withLock { known in
            let outcome = known ?? .failure(.timedOut)
            known = outcome
            return outcome
        }
        return try outcome.get()
    }
}
