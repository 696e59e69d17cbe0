// SPDX-License-Identifier: Apache-2.0
import AppBackend
import FastCGI
import Glibc
import Logging
import NotificationHub
import Store
import System

/// One running responder: its socket, its site, and those who watch over them.
package final class Service: Sendable {
    private let logger: Logger
    private let reload: Reload
    private let notifier = SystemdNotifier()
    private let site: ReloadableSite
    private let server: Server
    private let maintenance: Maintenance
    /// How long a start may take after each step of a store's migration. A process waits no longer while another one migrates it
    /// (`FileSiteStore.Options.migrationTimeout`).
    private static let migrationPatience: Duration = .seconds(660)

    /// Makes everything ready; `Signals.block()` belongs before it.
    /// - Parameters:
    ///   - file: where a reload finds the configuration again; nil: where the defaults are.
    ///   - look: looks at the service for administrators.
    /// - Throws: `ListenError`, `StoreError`, `ServerError`, and as `ReloadableSite.init`.
    package init(_ configuration: SiteConfiguration, file: String?, look: @escaping Examiner.Look) throws {
        let threshold = LogThreshold(configuration.logLevel)
        let logger = StderrLogHandler.logger(threshold)
        self.logger = logger
        let listener = try Listener.open(
            ListenAddress(configuration.listen, allowNonLoopback: configuration.allowsRemotePeers))
        let load = ServerLoad()
        let metrics = Site.makeMetrics(readings: [ServerReadings { load.status }])
        let store = try Site.openStore(
            configuration, metrics: metrics.store,
            onMigrating: { [notifier] in notifier?.notify(.migrating(Self.migrationPatience)) },
            report: { logger.log($0) })
        let examiner = Examiner(look: look)
        site = try ReloadableSite(
            configuration, listensOnPort: listener.isTCP, store: store, logger: logger, metrics: metrics,
            load: { load.current }, findings: { examiner.findings })
        examiner.watch(RunningSite(store: store, responder: site))
        reload = Reload(file: file, environment: .process, site: site, threshold: threshold, logger: logger)
        server = try Server(
            listener: listener, limits: Self.limits(configuration), logger: logger,
            refuse: { Backend.refusal($0).response }, responder: site)
        load.watch(server)
        maintenance = Maintenance(store: store, logger: logger)
        Reload.warn(of: configuration, logger)
        logger.notice("app-backend \(Version.text) listens on \(listener.description)")
    }

    /// Serves until SIGTERM or SIGINT; to be called once.
    /// - Throws: `ServerError.noThread`; `StoreError.poisoned`, when the disk has lost something.
    package func run() throws {
        defer { site.close() }
        // A reload replaces what must be there first.
        let isReady = Semaphore()
        try PlatformThread.start { [self] in
            isReady.wait()
            heedSignals()
        }
        try maintenance.start(
            requests: { [self] in server.status.answered },
            keepUp: { [self] () throws(StoreError) in try site.keepUp() },
            onLoss: { [self] in server.stop() })
        try site.startDelivering()
        let watch = notifier.map { Watchdog(notifier: $0, server: server, site: site, logger: logger) }
        try server.run(onReady: {
            notifier?.notify(.ready, .status("Serving"))
            do { try watch?.start() } catch { logger.error("the watchdog cannot be started: \(error)") }
            isReady.signal()
        })
        watch?.stop()
        maintenance.stop()
        logger.notice("stopped")
        if maintenance.hasFoundLoss { throw StoreError.poisoned }
    }

    private func heedSignals() {
        while true {
            let signal = Signals.wait()
            guard signal == SIGHUP else {
                logger.notice("stopping on signal \(signal)")
                server.stop()
                notifier?.notify(.stopping, .status("Stopping: requests in flight are answered"))
                return
            }
            notifier?.notify(.reloading)
            reload.run()
            notifier?.notify(.ready)
        }
    }

    private static func limits(_ configuration: SiteConfiguration) -> ServerLimits {
        var limits = ServerLimits()
        limits.workers = configuration.workers
        // A site takes no more itself than its own limit.
        let batch = configuration.localHub.isServed ? HubNotification.maximumBatchRequest : 0
        limits.bodyBytes = max(configuration.bodyBytes, batch)
        limits.drainSeconds = configuration.drainSeconds
        return limits
    }
}

/// Tells monitors how busy the server is. The server needs the site to answer and the site needs the server to ask,
/// so one of them has to be introduced later.
private final class ServerLoad: Sendable {
    private let server = Lock<Server?>(nil)

    func watch(_ server: Server) {
        self.server.withLock { $0 = server }
    }

    /// nil before the server is there.
    var status: ServerStatus? { server.withLock(\.self)?.status }

    var current: HealthController.Load {
        guard let status else { return HealthController.Load() }
        return HealthController.Load(workersBusy: status.workersBusy, workers: status.workers)
    }
}
