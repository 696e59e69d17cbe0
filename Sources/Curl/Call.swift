// SPDX-License-Identifier: Apache-2.0
import HTTP
import Synchronization

/// One call, shared by the caller, who sleeps, and the transfer thread, which answers.
///
/// It holds nothing that libcurl sees: a caller who gives up leaves no pointer behind. Whoever comes first, answer or
/// deadline, decides, and the other one's word is dropped.
final class Call: Sendable {
    let request: OutgoingRequest
    let deadline: Deadline
    private let result = Mutex<Result<Response, TransportError>?>(nil)
    private let latch = Latch()

    init(_ request: OutgoingRequest, deadline: Deadline) {
        self.request = request
        self.deadline = deadline
    }

    /// Wakes the caller, if he still waits. Only the first word counts.
    func finish(_ outcome: Result<Response, TransportError>) {
        result.withLock { if $0 == nil { $0 = outcome } }
        latch.open()
    }

    /// - Throws: `timedOut`, when the deadline passes first; otherwise what the transfer thread says.
    func wait() throws(TransportError) -> Response {
        latch.wait(until: deadline)
        let outcome = result.withLock { result in
            let outcome = result ?? .failure(.timedOut)
            result = outcome
            return outcome
        }
        return try outcome.get()
    }
}
