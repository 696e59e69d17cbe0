// SPDX-License-Identifier: Apache-2.0
import HTTP
import System

/// One call on its way to the transfer thread, and the way back for its outcome.
///
/// It holds nothing that libcurl sees: a caller who gives up leaves no pointer behind.
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

    /// Hands over what became of the call. Only the first word counts.
    func finish(_ outcome: Result<Response, TransportError>) {
        // Not called under the lock: the caller may do anything there, and what he held is released there.
        completion.withLock { $0.take() }?(outcome)
    }
}
