// SPDX-License-Identifier: Apache-2.0
import FastCGI
import Logging
import System

/// Notifies systemd of the service's status, and that it makes progress, as long as it does.
///
/// A process that is alive may still be stuck: the check is that connections are accepted, that workers take requests, and
/// that the delivery loop runs. systemd restarts a process that does not feed its watchdog, which frees what is stuck.
/// Waiting for a slow hub is not being stuck, because every call has a deadline.
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
            var check = ProgressCheck(signs)
            while !stopping.wait(for: pause) {
                let former = check.trouble
                notifier.notify(check.states(after: signs))
                if let trouble = check.trouble, trouble != former { logger.error("no progress: \(trouble)") }
            }
        }
    }

    func stop() {
        stopping.open()
    }

    private var signs: ProgressCheck.Signs {
        let status = server.status
        return ProgressCheck.Signs(
            server: server.liveness, delivery: site.pulse, patience: site.patience, isDraining: status.isDraining,
            status:
                "Serving: \(status.workersBusy) of \(status.workers) workers busy, \(status.connections) connections, "
                + "\(status.answered) requests answered\(site.remark)")
    }
}

/// Compares each look with the one before, and says what systemd is to be notified of.
struct ProgressCheck {
    /// What is seen at one look.
    struct Signs {
        var server: ServerLiveness
        /// nil: nothing is delivered here.
        var delivery: ReloadableSite.Pulse?
        /// For how long all workers may be at work on what they have.
        var patience: Duration
        var isDraining = false
        /// For `systemctl status`.
        var status = ""
    }

    /// What made no progress at the last look; nil: everything did.
    private(set) var trouble: String?
    private var last: Signs

    init(_ first: Signs) {
        last = first
    }

    /// - Returns: `alive` only after progress, or while the process ends, which has a time limit of its own.
    mutating func states(after signs: Signs) -> [SystemdNotifier.State] {
        trouble = Self.trouble(signs, since: last)
        last = signs
        if signs.isDraining { return [.alive] }
        return trouble.map { [.status("No progress: \($0)")] } ?? [.alive, .status(signs.status)]
    }

    private static func trouble(_ signs: Signs, since last: Signs) -> String? {
        switch signs.server.stall(since: last.server, patience: signs.patience) {
        case .accepting: return "no connection is accepted"
        case .workers(let time): return "no worker has become free for \(time.components.seconds) s"
        case nil: break
        }
        if let delivery = signs.delivery, delivery == last.delivery { return "nothing is delivered" }
        return nil
    }
}
