// SPDX-License-Identifier: Apache-2.0
import Metrics
package import Push
import System

/// Asks the push services of the configuration whether they accept its credentials; no device is reached.
package enum CredentialProbe {
    /// - Parameter timeout: the longest that all of them together may take.
    /// - Returns: by channel, in the order of the configuration, what the service said; nil: nothing in that time.
    /// - Throws: `TransportError`.
    package static func ask(
        _ configuration: SiteConfiguration, timeout: Duration
    ) throws -> [(channel: String, result: PushResult?)] {
        var apps = configuration
        // Browsers have a check of their own.
        apps.hub.platforms.removeAll { $0 == .browser }
        let channels = try SiteChannels(
            apps, metrics: PushMetrics(), now: { Site.now().seconds }, report: { _ in })
        defer { channels.close() }
        let results = Together.ask(channels.probes, waiting: timeout) { $0.ask($1) }
        return zip(channels.probes, results).map { ($0.channel, $1) }
    }
}
