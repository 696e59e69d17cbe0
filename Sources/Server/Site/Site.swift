// SPDX-License-Identifier: Apache-2.0
package import AppBackend
import BuiltInHub
import Curl
import FastCGI
package import FileStore
import Glibc
import HTTP
import HTTPTypes
import HubServer
package import Logging
package import Metrics
package import NotificationHub
import PostgresStore
package import Store
package import Text

/// All rooms, introduced to each other as the configuration says.
package struct Site {
    package let backend: Backend
    /// Decides who is who. It remembers failed log-ins, so a reload hands it on to the next site.
    let authenticator: any PasswordAuthenticator
    /// What users have done so far, which likewise is handed on.
    let meter: UserMeter
    /// The issuers of tokens; their keys are likewise handed on.
    let issuers: SiteIssuers?
    /// Counts wrong app tokens, and likewise.
    let tokenThrottle: LoginThrottle
    /// What answers requests: the backend, and the local hub where it is served to others.
    let responder: any Responder
    /// Removes what removed users have left, and what is left to do of changed rights.
    package let upkeep: UserUpkeep
    /// Tells users' devices what was read since the last time.
    let syncInboxes: @Sendable (_ duration: Duration) -> Void
    private let hub: HubWiring
    /// Why channels of the configuration are off.
    var channelFaults: [ConfigurationFault] { hub.channelFaults }
    private let webhooks: SiteWebhooks?
    /// How long the end waits for pushes that are under way.
    private static let drain = Duration.seconds(6)

    package static let now: @Sendable () -> Timestamp = { Timestamp(seconds: Int64(time(nil))) }

    /// - Parameters:
    ///   - authenticator: nil: the one that the configuration names.
    ///   - meter: nil: one for users who have done nothing yet.
    ///   - issuers: nil: those of the configuration, whose keys are yet to be fetched.
    ///   - metrics: the process's, which outlive this site.
    ///   - findings: what the last look at the service has found.
    ///   - sendAt: when the hub is to send what is sent here; nil: at once.
    /// - Throws: `ConfigurationFault`, `TransportError`: whatever cannot be made.
    package init(
        _ configuration: SiteConfiguration, store: any SiteStore, logger: Logger,
        authenticator: (any PasswordAuthenticator)? = nil, meter: UserMeter? = nil,
        tokenThrottle: LoginThrottle = LoginThrottle(), issuers: SiteIssuers? = nil,
        metrics: SiteMetrics = Site.makeMetrics(),
        load: @escaping @Sendable () -> HealthController.Load = { HealthController.Load() },
        findings: @escaping @Sendable () -> SiteFindings = { SiteFindings() }, sendAt: Timestamp? = nil
    ) throws {
        let hub = try HubWiring(configuration, store: store, metrics: metrics, logger: logger)
        let webhooks = try SiteWebhooks(
            configuration.webhooks, store: store, hub: hub.hub, metrics: metrics.webhooks, logger: logger)
        let readings = SiteReadings(
            store: store, folder: configuration.store.folder, hub: hub, webhooks: webhooks,
            now: { Self.now().seconds })
        self.authenticator = authenticator ?? Self.authenticator(configuration, store, metrics.logIns, logger)
        self.meter = meter ?? UserMeter(metrics: metrics.limits)
        self.issuers = try issuers ?? SiteIssuers.configured(configuration, logger)
        self.tokenThrottle = tokenThrottle
        var parts = Self.parts(configuration, store: store, hub, self.authenticator, logger)
        parts.issuers = self.issuers?.verifier
        parts.notifications.sendAt = sendAt
        (parts.meter, parts.tokenThrottle) = (self.meter, tokenThrottle)
        (parts.load, parts.findings) = (load, findings)
        parts.reload = { metrics.reloads.state }
        parts.metrics = MetricsResponder { metrics.exposition(with: [readings]) }
        parts.status = { readings.status(metrics) }
        parts.webhooks = webhooks?.webhooks
        let backend = Backend(parts)
        upkeep = UserUpkeep(store: store, hub: hub.hub, policy: configuration.policy, now: Self.now) {
            logger.warning("\($0)")
        }
        let (sync, notifications) = (parts.inboxSync, parts.notifications)
        syncInboxes = { sync?.run(store, notifications, now: Self.now(), within: $0, logger: logger) }
        self.backend = backend
        (self.hub, self.webhooks) = (hub, webhooks)
        let whole: any Responder =
            hub.served.map { HubAndBackend(configuration, hub: $0, backend: backend) } ?? backend
        responder = metrics.requests.measuring(whole, observe: { $0.log(to: logger) })
    }

    /// What the configuration alone decides.
    private static func parts(
        _ configuration: SiteConfiguration, store: any SiteStore, _ hub: HubWiring,
        _ authenticator: any PasswordAuthenticator, _ logger: Logger
    ) -> Backend.Parts {
        var parts = Backend.Parts(
            store: store,
            notifications: Notifications(
                hub: hub.hub, platforms: configuration.hub.platforms, secureForm: configuration.secureForm),
            authenticator: authenticator,
            policy: configuration.policy, retentionSeconds: Int64(configuration.retentionDays) * 86_400,
            realm: configuration.realm, sessionSeconds: Int64(configuration.sessionHours) * 3_600,
            publicConfiguration: PublicConfiguration(
                vapidPublicKey: hub.vapidPublicKey, deliveringPlatforms: hub.delivering),
            version: Version.text, now: now, logger: logger)
        parts.limits = configuration.userLimits
        parts.authenticationMethods = configuration.authenticationMethods
        parts.foreignOrigins = ForeignOrigins(configuration.foreignOrigins)
        parts.waiting = { hub.waiting }
        parts.endpoints = configuration.endpoints
        (parts.plainSeconds, parts.countsBadges) = (Int64(configuration.plainDays) * 86_400, configuration.countsBadges)
        parts.inboxSync = configuration.syncsInbox ? InboxSync() : nil
        parts.apps = hub.isInTheBox ? AppPolicy(configuration.appNames) : .remoteHub
        return parts
    }

    /// Counters that begin at 0; made once, for all sites of the process.
    /// - Parameter readings: of what lives as long as the process.
    package static func makeMetrics(readings: [any Collector] = []) -> SiteMetrics {
        SiteMetrics(version: Version.text, startedAt: Double(now().seconds), readings: readings)
    }

    /// Whether a service on this store delivers what is sent, and not Azure.
    package var hasBuiltInHub: Bool { hub.isInTheBox }

    /// What the hub says of a send; nil: it does not know it, or not yet.
    package func details(of id: String) throws(HubError) -> NotificationDetails? {
        try hub.hub.details(id)
    }

    /// As `Hub.details(of:)`.
    package func details(of ids: [String]) -> [Result<NotificationDetails?, HubError>] {
        hub.hub.details(of: ids)
    }

    /// Starts delivering what the local hub has queued, where it has anything to deliver with, what webhooks are to be told, and what users
    /// have put off.
    /// - Throws: `ServerError.noThread`.
    func startDelivering() throws(ServerError) {
        try webhooks?.start()
        try PlatformThread.start { [sender = backend.scheduledSender] in sender.run() }
        guard let worker = hub.deliveryWorker else { return }
        try PlatformThread.start { worker.run() }
    }

    /// Grows as long as the delivery is at work; nil where nothing is delivered.
    var deliveryTurns: Int? { hub.deliveryWorker?.pulse }

    /// Ends the delivery, for which another process or site may take over, and waits for the pushes under way.
    func stopDelivering() {
        backend.scheduledSender.loop.stop()
        syncInboxes(.seconds(1))
        hub.stopDelivering(drain: Self.drain)
        webhooks?.stop(drain: Self.drain)
        backend.scheduledSender.loop.waitForEnd(Self.drain)
    }

    /// Ends what the site has running; calls in flight fail.
    package func close() {
        stopDelivering()
        hub.close()
        webhooks?.close()
    }

    /// - Parameters:
    ///   - metrics: of the disk, where the store is in files.
    ///   - migrates: false for a command that only looks: it may run beside a service of an older version.
    ///   - report: hears what the operator should know of the store's files.
    package static func openStore(
        _ configuration: SiteConfiguration, metrics: StoreMetrics = StoreMetrics(), migrates: Bool = true,
        onMigrating: @escaping @Sendable () -> Void = {}, report: @escaping @Sendable (StoreEvent) -> Void
    ) throws(StoreError) -> any SiteStore {
        switch configuration.store {
        case .folder(let path):
            var options = FileSiteStore.Options()
            (options.migrates, options.onMigrating) = (migrates, onMigrating)
            return try openFiles(path, metrics, options, report)
        case .database(let url, let connections):
            var options = PostgresSiteStore.Options()
            options.connections = connections
            return try PostgresSiteStore.open(url: url.reveal(), options: options)
        }
    }

    private static func openFiles(
        _ path: String, _ metrics: StoreMetrics, _ options: FileSiteStore.Options,
        _ report: @escaping @Sendable (StoreEvent) -> Void
    ) throws(StoreError) -> FileSiteStore {
        var options = options
        options.calls = metrics.measuring(DiskCalls())
        options.onEvent = { event in
            metrics.count(event)
            report(event)
        }
        return try FileSiteStore.open(path: path, options: options)
    }

    private static func authenticator(
        _ configuration: SiteConfiguration, _ store: any SiteStore, _ metrics: LogInMetrics,
        _ logger: Logger
    ) -> any PasswordAuthenticator {
        configuration.isTest
            ? AuthenticationTestHandler(store: store, now: now)
            : UserAuthenticator(store: store, metrics: metrics, logger: logger, now: now)
    }
}

/// Serves the local hub under `/<name>/`, and where an SDK asks for hubs, and the backend under everything else.
private struct HubAndBackend: Responder {
    private let name: String
    /// The largest body for the backend. The hub has limits of its own.
    private let bodyBytes: Int
    private let hub: HubServer
    private let backend: Backend

    init(_ configuration: SiteConfiguration, hub: HubServer, backend: Backend) {
        (name, bodyBytes) = (configuration.hub.name, configuration.bodyBytes)
        (self.hub, self.backend) = (hub, backend)
    }

    func respond(to request: Request) -> Response {
        guard !isForHub(request) else { return hub.respond(to: request) }
        guard request.body.count <= bodyBytes else { return Backend.refusal(.contentTooLarge).response }
        return backend.respond(to: request)
    }

    /// Collections that only a hub has: a client that calls it by another name reads in its own language that it is wrong.
    private static let collections = ["registrations", "registrationids", "installations", "schedulednotifications"]

    private func isForHub(_ request: Request) -> Bool {
        let segments = request.path.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 2).map { String(Substring($0)) }
        guard let first = segments.first else { return false }
        if [name, "$Resources"].contains(where: { ASCII.equalIgnoringCase($0, first) }) { return true }
        guard segments.count > 1, !ASCII.equalIgnoringCase(first, "api") else { return false }
        return Self.collections.contains { ASCII.equalIgnoringCase($0, segments[1]) }
    }
}

extension MeasuredAnswer {
    /// A line of each answer, for those who ask for `debug`: on a shared host the web server's log may be out of reach, and
    /// a hub's callers know their requests by ids of their own (`tracking`).
    fileprivate func log(to logger: Logger) {
        logger.debug("answered", metadata: metadata)
    }

    private var metadata: Logger.Metadata {
        var pairs: Logger.Metadata = [
            "request": "\(requestID)", "method": "\(method.rawValue)", "route": "\(route)",
            "status": "\(status.code)", "milliseconds": "\((duration / .microseconds(1)).rounded() / 1000)",
        ]
        if let id = fields[.trackingID] { pairs["tracking"] = "\(id)" }
        return pairs
    }
}
