// SPDX-License-Identifier: Apache-2.0
import HTTP
import System

/// One request on its way to the transfer thread, and the way back for its outcome.
///
/// It holds nothing that libcurl sees: a caller that gives up leaves no pointer behind.
final class PendingRequest: Sendable {
    typealias Completion = @Sendable (Result<Response, TransportError>) -> Void

    let outgoing: OutgoingRequest
    let deadline: Deadline
    private let completion: Lock<Completion?>

    init(_ outgoing: OutgoingRequest, deadline: Deadline, completion: @escaping Completion) {
        self.outgoing = outgoing
        self.deadline = deadline
        self.completion = Lock(completion)
    }

    /// Hands over the outcome. Only the first one counts.
    func finish(_ outcome: Result<Response, TransportError>) {
        // Not called under the lock: the completion may do anything, and what it holds is released there.
        completion.withLock { $0.take() }?(outcome)
    }
}
