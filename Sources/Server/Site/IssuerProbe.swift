// SPDX-License-Identifier: Apache-2.0
package import JWT
import System

/// Fetches the keys of the configured issuers once, as the service does.
package enum IssuerProbe {
    /// - Parameter timeout: the longest that all of them together may take.
    /// - Returns: in the order of the configuration how many keys there are that tokens can be verified by, or why there are
    ///   none; nil: no answer in that time.
    /// - Throws: `TransportError`.
    package static func ask(
        _ issuers: [SiteConfiguration.Issuer], timeout: Duration
    ) throws -> [(issuer: SiteConfiguration.Issuer, answer: Result<Int, KeyError>?)] {
        let sources = try issuers.map { try SiteIssuers.source($0, timeout: timeout) }
        let answers = Lock<[Int: Result<Int, KeyError>]>([:])
        let answered = Semaphore()
        for (index, source) in sources.enumerated() {
            source.fetch { result in
                answers.withLock { $0[index] = result.map(\.count) }
                answered.signal()
            }
        }
        let deadline = Deadline.after(timeout)
        for _ in sources { _ = answered.wait(until: deadline) }
        let all = withExtendedLifetime(sources) { answers.withLock { $0 } }
        return issuers.enumerated().map { ($1, all[$0]) }
    }
}
