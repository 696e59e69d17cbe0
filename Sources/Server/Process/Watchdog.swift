// SPDX-License-Identifier: Apache-2.0
import FastCGI
import Logging
import System

/// Tells the service notifier how the service fares, and that it makes progress, as long as it does.
///
/// A process that only breathes is not at work: what is looked at is that connections are accepted, that workers take
/// requests, and that the delivery goes round. Whoever stops feeding the watchdog is ended and started anew, which frees
/// what is stuck; waiting for a hub that is slow is not being stuck, for every call has a deadline.
final class Watchdog: Sendable {
    /// Seconds between two looks when there is no watchdog to be fed.
    private static let pause = Duration.seconds(5)
    /// The shortest time between two looks: those who are watched may sleep a quarter of a second.
    private static let shortestPause = Duration.milliseconds(400)

    private let notifier: SystemdNotifier
    private let server: Server
    private let site: ReloadableSite
    private let logger: Logger
    private let stopping = Latch()

    init(notifier: SystemdNotifier, server: Server, site: ReloadableSite, logger: Logger) {
        self.notifier = notifier
        self.server = server
        self.site = site
        self.logger = logger
    }

    /// Watches on a thread of its own until `stop`.
    /// - Throws: `ServerError.noThread`.
    func start() throws(ServerError) {
        try PlatformThread.start { [self] in
            // Three chances for each deadline.
            let pause = max(Self.shortestPause, min(Self.pause, (notifier.watchdog ?? .seconds(3600)) / 3))
            var last = Signs(server.pulse, site.pulse)
            var trouble: String?
            while !stopping.wait(for: pause) {
                let signs = Signs(server.pulse, site.pulse)
                let found = signs.trouble(since: last, patience: site.patience)
                if let found, found != trouble { logger.error("no progress: \(found)") }
                trouble = found
                last = signs
                if server.status.isDraining {
                    notifier.notify(.alive)
                } else if found == nil {
                    notifier.notify(.alive, .status(status))
                } else {
                    notifier.notify(.status("No progress: \(found ?? "")"))
                }
            }
        }
    }

    func stop() {
        stopping.open()
    }

    private var status: String {
        let status = server.status
        return "Serving: \(status.workersBusy) of \(status.workers) workers busy, \(status.connections) connections, "
            + "\(status.answered) requests answered\(site.remark)"
    }
}

/// What is compared between two looks.
private struct Signs {
    let server: ServerPulse
    /// nil: nothing is delivered here.
    let delivery: ReloadableSite.Pulse?

    init(_ server: ServerPulse, _ delivery: ReloadableSite.Pulse?) {
        self.server = server
        self.delivery = delivery
    }

    /// - Returns: who has not moved; nil when everybody has.
    func trouble(since last: Signs, patience: Duration) -> String? {
        switch server.standstill(since: last.server, patience: patience) {
        case .accepting: return "no connection is accepted"
        case .workers(let time): return "no worker has become free for \(time.components.seconds) s"
        case nil: break
        }
        if let delivery, delivery == last.delivery { return "nothing is delivered" }
        return nil
    }
}
