// SPDX-License-Identifier: Apache-2.0
import HTTP
import System

/// One fetch of an issuer's keys, for all requests that wait for it.
package final class KeyFetch: Postponement {
    /// Requests that may wait for one fetch.
    static let maximumRequests = 1_000

    package let began = ContinuousClock.now
    /// One for all requests that wait for keys: they share the room that one source may take.
    package let source = "keys of issuers"
    private let completion = Completion()
    private let requests = Lock(0)

    /// One more request waits for it.
    /// - Returns: false when too many do.
    func join() -> Bool {
        requests.withLock { requests in
            guard requests < Self.maximumRequests else { return false }
            requests += 1
            return true
        }
    }

    package func onEnd(_ resume: @escaping @Sendable () -> Void) { completion.onEnd(resume) }

    /// Lets the requests go on.
    func end() { completion.end() }
}
