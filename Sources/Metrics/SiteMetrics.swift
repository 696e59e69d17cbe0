// SPDX-License-Identifier: Apache-2.0

/// All that is counted from the process's beginning to its end. It outlives what it counts: a site that is made again
/// goes on with the same numbers.
package struct SiteMetrics: Sendable {
    package let requests = RequestMetrics()
    package let hub = HubMetrics()
    package let pushes = PushMetrics()
    package let history = PushHistory()
    package let store = StoreMetrics()
    package let logIns = LogInMetrics()
    package let limits = LimitMetrics()
    package let reloads = ReloadMetrics()
    package let webhooks = WebhookMetrics()
    /// When the process began, in seconds since 1970.
    package let startedAt: Double
    private let version: String
    private let process: ProcessReadings
    private let readings: [any Collector]

    private static let build = MetricName("app_backend_build_info", "1, with the version of the program.")

    /// - Parameters:
    ///   - startedAt: when the process began, in seconds since 1970.
    ///   - readings: of what lives as long as the process.
    package init(version: String, startedAt: Double, readings: [any Collector] = []) {
        (self.version, self.startedAt) = (version, startedAt)
        process = ProcessReadings(startedAt: startedAt)
        self.readings = readings
    }

    /// All numbers, as Prometheus reads them.
    /// - Parameter more: readings of what is there now.
    package func exposition(with more: [any Collector] = []) -> [UInt8] {
        var exposition = Exposition()
        exposition.family(Self.build, .gauge)
        exposition.sample(Self.build, VersionLabel(version: version), 1)
        let counted =
            requests.collectors + hub.collectors + pushes.collectors + store.collectors + logIns.collectors
            + limits.collectors + webhooks.collectors
        for collector in [process, reloads] + readings + more + counted { collector.collect(into: &exposition) }
        return exposition.bytes
    }
}

private struct VersionLabel: LabelSet {
    static let names: [StaticString] = ["version"]
    let version: String

    var values: [String] { [version] }
}
