// SPDX-License-Identifier: Apache-2.0
import AppBackend
import FastCGI
import HTTP
import Logging
import Metrics
import Store
import System

/// The site that answers now. A reload puts another in its place; what the former has begun it also finishes.
final class ReloadableSite: Responder {
    /// The signs of life of the delivery: of which site, and how often it has gone round.
    struct Pulse: Equatable {
        let site: Int
        let turns: Int
    }

    /// A site with its configuration, for as long as a request is under way in it.
    private final class Generation: Sendable {
        let number: Int
        let configuration: SiteConfiguration
        let site: Site

        init(number: Int, configuration: SiteConfiguration, site: Site) {
            self.number = number
            self.configuration = configuration
            self.site = site
        }

        /// The last reference may be that of a worker with an answer to send, and to close takes time. To close again does
        /// nothing.
        deinit {
            let site = site
            ReloadableSite.aside { site.close() }
        }
    }

    let store: any SiteStore
    /// Where the socket was handed over, no configuration says that.
    private let listensOnPort: Bool
    private let logger: Logger
    private let metrics: SiteMetrics
    private let load: @Sendable () -> HealthController.Load
    private let findings: @Sendable () -> SiteFindings
    private let current: Lock<Generation>
    /// Keys whose new values wait for the next start.
    private let waiting = Lock<[String]>([])

    /// - Throws: `ConfigurationFault`, when a method of authentication is not for a port; as `Site.init`.
    init(
        _ configuration: SiteConfiguration, listensOnPort: Bool, store: any SiteStore, logger: Logger,
        metrics: SiteMetrics, load: @escaping @Sendable () -> HealthController.Load,
        findings: @escaping @Sendable () -> SiteFindings = { SiteFindings() }
    ) throws {
        if listensOnPort { try configuration.requireMethodsForPort() }
        self.listensOnPort = listensOnPort
        self.store = store
        self.logger = logger
        self.metrics = metrics
        self.load = load
        self.findings = findings
        let site = try Site(
            configuration, store: store, logger: logger, metrics: metrics, load: load, findings: findings)
        current = Lock(Generation(number: 0, configuration: configuration, site: site))
    }

    func respond(to request: Request) throws -> Response {
        let generation = generation
        return try Continuation.after({ try generation.site.responder.respond(to: request) }) { outcome in
            // A request that is continued needs the site that has begun it.
            try withExtendedLifetime(generation) { try outcome.get() }
        }
    }

    /// As `Site.startDelivering`.
    func startDelivering() throws {
        try generation.site.startDelivering()
    }

    /// As `UserUpkeep.run` and `Site.syncInboxes`, with the site that answers now; and notes what was pushed.
    func keepUp() throws(StoreError) {
        metrics.history.note(metrics.pushes, now: Site.now().seconds)
        let generation = generation
        try withExtendedLifetime(generation) { () throws(StoreError) in
            defer { generation.site.syncInboxes(.seconds(5)) }
            try generation.site.upkeep.run()
        }
    }

    /// Nil where nothing is delivered.
    var pulse: Pulse? {
        let generation = generation
        return generation.site.deliveryTurns.map { Pulse(site: generation.number, turns: $0) }
    }

    /// For how long all workers may be at work on what they have: a request makes several calls to the hub.
    var patience: Duration { .seconds(max(60, 10 * generation.configuration.hub.timeout)) }

    /// What the operator should know and would not look for in the log. Begins with a comma; empty when there is nothing to say.
    var remark: String {
        if let refusal = metrics.reloads.state.refusal { return ", the last reload was refused: \(refusal)" }
        let waiting = waiting.withLock(\.self)
        return waiting.isEmpty ? "" : ", a restart is needed for \(waiting.joined(separator: ", "))"
    }

    /// Puts a site of that configuration in the place of the present one.
    /// - Returns: keys whose new values wait for the next start.
    /// - Throws: as `init`, `ServerError.noThread`, and `ConfigurationFault`, when a channel would be off that is not off at
    ///   present; the present one goes on.
    func reload(_ wanted: SiteConfiguration) throws -> [String] {
        let former = generation
        var configuration = wanted
        let waiting = configuration.keepFixed(of: former.configuration)
        if listensOnPort { try configuration.requireMethodsForPort() }
        // Failed log-ins and what users have done are remembered over a reload.
        let hasSameUsers = configuration.isTest == former.configuration.isTest
        let site = try Site(
            configuration, store: store, logger: logger, authenticator: hasSameUsers ? former.site.authenticator : nil,
            meter: former.site.meter, tokenThrottle: former.site.tokenThrottle,
            issuers: configuration.issuers == former.configuration.issuers ? former.site.issuers : nil,
            metrics: metrics, load: load, findings: findings)
        // What works at present is not switched off by a mistake.
        if let fault = site.channelFaults.first(where: { !former.site.channelFaults.contains($0) }) {
            site.close()
            throw fault
        }
        let next = Generation(number: former.number + 1, configuration: configuration, site: site)
        try site.startDelivering()
        current.withLock { $0 = next }
        // An operator who has withdrawn a key at the issuer does not wait until the keys are due.
        site.issuers?.verifier.expireKeys()
        metrics.reloads.note(refusal: nil)
        self.waiting.withLock { $0 = waiting }
        retire(former)
        return waiting
    }

    private func retire(_ former: Generation) {
        // Its pushes under way may take seconds, and the next signal must not wait for them.
        Self.aside { former.site.stopDelivering() }
    }

    /// On a thread of its own, or where none can be started, here.
    private static func aside(_ work: @escaping @Sendable () -> Void) {
        do throws(ServerError) {
            try PlatformThread.start(work)
        } catch {
            work()
        }
    }

    /// Notes that the configuration was not taken.
    func noteRefusal(_ reason: String) { metrics.reloads.note(refusal: reason) }

    /// Ends what it has running; calls in flight fail.
    func close() {
        generation.site.close()
    }

    private var generation: Generation { current.withLock(\.self) }
}

extension SiteConfiguration {
    /// Keeps what cannot change while a process runs: its store, socket, threads and limits.
    /// - Returns: the keys for which something else was wanted.
    mutating func keepFixed(of running: SiteConfiguration) -> [String] {
        var waiting: [String] = []
        for row in table.rows where row.keep?(&self, running) == true { waiting.append(row.key) }
        return waiting
    }
}
