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
        let answers = withExtendedLifetime(sources) {
            Together.ask(sources, waiting: timeout) { source, answer in source.fetch { answer($0.map(\.count)) } }
        }
        return zip(issuers, answers).map { ($0, $1) }
    }
}
