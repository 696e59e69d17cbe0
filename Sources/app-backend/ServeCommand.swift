// SPDX-License-Identifier: Apache-2.0
import AppBackend
import ArgumentParser
import FastCGI
import Glibc
import Logging
import Store
import Synchronization

/// Tells `/health` how busy the server is. The server needs the site to answer and the site needs the server to ask,
/// so one of them has to be introduced later.
private final class ServerLoad: Sendable {
    private let server = Mutex<Server?>(nil)

    func watch(_ server: Server) {
        self.server.withLock { $0 = server }
    }

    var current: HealthController.Load {
        guard let status = server.withLock(\.self)?.status else { return HealthController.Load() }
        return HealthController.Load(workersBusy: status.workersBusy, workers: status.workers)
    }
}

struct ServeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Answer FastCGI requests until SIGTERM.",
        discussion: """
            Takes the listening socket that systemd, spawn-fcgi, mod_fcgid or lighttpd hand over, or makes the one \
            that the key `listen` names.
            """)

    @OptionGroup var options: ConfigurationOptions

    func run() throws {
        let configuration = try options.load()
        // Before the first thread: every thread inherits the mask, and only this one waits for signals.
        Signals.block()
        let logger = Logger(label: "app-backend") { _ in LogLines(level: configuration.logLevel) }
        do {
            try serve(configuration, logger)
        } catch {
            logger.critical("ended: \(error)")
            throw ExitCode(1)
        }
    }

    private func serve(_ configuration: SiteConfiguration, _ logger: Logger) throws {
        let listener = try Listener.open(
            ListenAddress(configuration.listen, allowNonLoopback: configuration.allowsRemotePeers))
        let load = ServerLoad()
        let site = try Site(configuration, logger: logger, load: { load.current })
        defer { site.close() }
        let server = try Server(
            listener: listener, limits: limits(configuration), logger: logger,
            refuse: { Backend.refusal($0).response }, responder: site.responder)
        load.watch(server)
        try warn(configuration, logger)
        logger.notice("app-backend \(Version.text) listens on \(listener.description)")
        try PlatformThread.start {
            logger.notice("stopping on signal \(Signals.wait())")
            server.stop()
        }
        let sweeper = Sweeper(store: site.store, logger: logger)
        try sweeper.start { server.stop() }
        try site.startDelivering()
        try server.run()
        sweeper.stop()
        logger.notice("stopped")
        if sweeper.hasFoundLoss { throw StoreError.poisoned }
    }

    private func limits(_ configuration: SiteConfiguration) -> ServerLimits {
        var limits = ServerLimits()
        limits.workers = configuration.workers
        limits.bodyBytes = configuration.bodyBytes
        limits.drainSeconds = configuration.drainSeconds
        return limits
    }

    private func warn(_ configuration: SiteConfiguration, _ logger: Logger) throws {
        if configuration.authenticationMethod == .test {
            logger.warning("auth.method is test: WHOEVER GIVES A NAME AS PASSWORD IS THAT USER")
        }
        if configuration.hub.connection == nil {
            switch try PushService.state(configuration) {
            case .on: logger.notice("no hub.connectionString: the local hub is used, and pushes to browsers")
            case .off(let reason):
                logger.notice("no hub.connectionString: the local hub is used, for no browsers: \(reason)")
            }
        }
    }
}
