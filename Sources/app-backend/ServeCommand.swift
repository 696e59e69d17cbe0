// SPDX-License-Identifier: Apache-2.0
import AppBackend
import ArgumentParser
import FastCGI
import Glibc
import Logging
import Synchronization

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
            logger.critical("cannot start: \(error)")
            throw ExitCode(1)
        }
    }

    private func serve(_ configuration: SiteConfiguration, _ logger: Logger) throws {
        let listener = try Listener.open(
            ListenAddress(configuration.listen, allowNonLoopback: configuration.allowsRemotePeers))
        let status = ServerStatusBox()
        let site = try Site(configuration, logger: logger, load: { status.load() })
        let server = try Server(
            listener: listener, limits: limits(configuration), logger: logger, responder: site.responder)
        status.attach(server)
        warn(configuration, logger)
        logger.notice("\(Version.text) listening on \(listener.description)")
        let waiting = PlatformThread(name: "server") { server.run() }
        let signal = Signals.wait()
        logger.notice("stopping on signal \(signal)")
        server.stop()
        waiting.join()
        site.close()
    }

    private func limits(_ configuration: SiteConfiguration) -> ServerLimits {
        var limits = ServerLimits()
        limits.workers = configuration.workers
        limits.bodyBytes = configuration.bodyBytes
        limits.drainSeconds = configuration.drainSeconds
        return limits
    }

    private func warn(_ configuration: SiteConfiguration, _ logger: Logger) {
        if configuration.authenticationMethod == .test {
            logger.warning("auth.method is test: WHOEVER GIVES A NAME AS PASSWORD IS THAT USER")
        }
        if configuration.hub.connection == nil {
            logger.notice("no hub.connectionString: the local hub is used")
        }
    }
}
