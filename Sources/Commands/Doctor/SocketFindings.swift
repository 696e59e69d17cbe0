// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import FastCGI
import Glibc
import HTTP
import HTTPTypes
import JSON

/// What a running service says of itself.
struct RunningService: Sendable {
    /// Of its program; empty for one that does not say so.
    var version: String
    var isWell: Bool
    /// `writable`, `full`, `readOnly`, `poisoned`.
    var store: String
    var workersBusy: Int
    var workers: Int
    /// Channels whose messages wait for something that an operator may have to correct.
    var waiting: [WaitingChannel]
    /// Reloads since the start; nil: an older version does not say.
    var reloads: Int?
    /// Why the last reload was refused; nil: it was not.
    var reloadRefusal: String?
    var configuration: RunningConfiguration?

    struct WaitingChannel: Sendable {
        let name: String
        let cause: HealthController.WaitingChannel.Cause
        /// As the service writes times: `2026-12-21T00:00:00Z`.
        let since: String
        let reason: String
    }

    /// Asks the service for `/health` and `/api/config`.
    /// - Parameter seconds: that each question may take.
    /// - Throws: `FastCGIProbe.Failure`.
    init(at address: ListenAddress, seconds: UInt16) throws(FastCGIProbe.Failure) {
        guard let probe = FastCGIProbe(address, timeoutSeconds: seconds) else { throw .missing }
        try self.init { (path) throws(FastCGIProbe.Failure) in try probe.get(path) }
    }

    /// - Parameter ask: gets what is at that path.
    /// - Throws: `FastCGIProbe.Failure`.
    init(ask: (String) throws(FastCGIProbe.Failure) -> Response) throws(FastCGIProbe.Failure) {
        let health = try ask(Path.health)
        guard let json = try? JSONValue(parsing: health.body), json["status"]?.string != nil,
            let store = json["store"]?.string
        else { throw .notFastCGI }
        version = json["version"]?.string ?? ""
        isWell = health.status == .ok
        self.store = store
        workersBusy = Int(json["workers"]?["busy"]?.integer ?? 0)
        workers = Int(json["workers"]?["total"]?.integer ?? 0)
        // Missing in the answer of an older version.
        waiting = (json["waiting"]?.array ?? []).compactMap { one in
            guard let name = one["channel"]?.string, let since = one["since"]?.string,
                let reason = one["reason"]?.string
            else { return nil }
            let cause = one["cause"]?.string.flatMap(HealthController.WaitingChannel.Cause.init(rawValue:))
            return WaitingChannel(name: name, cause: cause ?? .credential, since: since, reason: reason)
        }
        reloads = json["reload"]?["count"]?.integer
        reloadRefusal = json["reload"]?["refused"]?.string
        configuration = RunningConfiguration(try ask(Path.config))
    }
}

/// Judges whether the service answers on its socket, and whether it is the one that is configured.
struct SocketFindings: Sendable {
    /// Where the shipped unit puts the socket.
    static let shippedPath = "/run/app-backend/app-backend.sock"

    /// As the configuration has it: a path, or an address and a port.
    let name: String
    let address: ListenAddress
    /// Whether systemd opens the socket, and not the service.
    let isSystemds: Bool

    /// - Parameters:
    ///   - version: of this program.
    ///   - configuration: as this program reads it; nil where it is faulty.
    func findings(
        _ answer: Result<RunningService, FastCGIProbe.Failure>, version: String, configuration: RunningConfiguration?
    ) -> [Finding] {
        switch answer {
        case .failure(let failure): return [judge(failure)]
        case .success(let service): return Self.findings(service, name, version: version, configuration: configuration)
        }
    }

    /// Of a service that answers.
    /// - Parameters:
    ///   - name: what the sentences call it.
    ///   - version: as in `findings(_:version:configuration:)`.
    static func findings(
        _ service: RunningService, _ name: String, version: String, configuration: RunningConfiguration?
    ) -> [Finding] {
        let findings = judge(service, name, version, configuration)
        let busy = "\(service.workersBusy) of \(service.workers) workers are busy"
        return findings.isEmpty ? [.ok("\(name): \(version) answers, \(busy)")] : findings
    }

    private static func judge(
        _ service: RunningService, _ name: String, _ version: String, _ configuration: RunningConfiguration?
    ) -> [Finding] {
        let differences = configuration.flatMap { service.configuration?.differences(from: $0) } ?? []
        let theirs = service.version.isEmpty ? "an older version" : service.version
        return [Finding](table: [
            fail(
                when: !service.isWell,
                "\(name): the service calls itself unavailable: its store is \(service.store), \(service.workersBusy) of "
                    + "\(service.workers) workers are busy",
                fix: service.store == "writable"
                    ? "`workers`, or `hub.timeout` when it is the hub that is slow" : "see the line `store`"),
            fail(
                when: service.reloadRefusal != nil,
                "\(name): the last reload was refused, and a restart may fail: \(service.reloadRefusal ?? "")",
                fix: "what `app-backend check` names; then `systemctl reload app-backend`"),
            warn(
                when: service.version != version, "\(name): \(theirs) answers, and this is \(version)",
                fix: "`systemctl restart app-backend`"),
            warn(
                when: !differences.isEmpty,
                "\(name): the service runs with another \(differences.joined(separator: ", ")) than is configured",
                fix: "`systemctl reload app-backend`; or --config: another file than the unit's"),
        ])
    }

    private func judge(_ failure: FastCGIProbe.Failure) -> Finding {
        let start = "`systemctl status app-backend.service`: is it started?"
        let missing =
            isSystemds
            ? "`systemctl enable --now app-backend.socket`; ListenStream= there must name it (--socket: another path)"
            : start + " It makes the socket that `listen` names"
        return switch failure {
        case .missing: .fail("\(name): there is no such socket", fix: missing)
        case .forbidden:
            .warning(
                "\(name): this user may not connect, so whether the service answers was not seen",
                fix: "run it as root, or as nginx's user")
        case .refused where isPlainFile: .fail("\(name) is not a socket", fix: "remove it; \(missing)")
        case .refused:
            .fail(
                "\(name): nothing listens",
                fix: isSystemds
                    ? "`systemctl status app-backend.socket`; `systemctl restart app-backend.socket`" : start)
        case .timedOut:
            .fail(
                "\(name): connections are taken, and no answer comes",
                fix: "`systemctl status app-backend.service`; `journalctl -u app-backend`")
        case .hungUp:
            .fail("\(name): the connection ended before the answer", fix: "`journalctl -u app-backend`")
        case .notFastCGI, .tooLarge:
            .fail(
                "\(name): something else than the service answers",
                fix: "--socket, `listen`, or ListenStream= in app-backend.socket: a path that no other program has")
        case .system(let reason): .fail("\(name): \(reason)", fix: "--socket or `listen`")
        }
    }

    private var isPlainFile: Bool {
        guard case .unix(let path) = address, let mode = FileMode(path) else { return false }
        return mode.kind != S_IFSOCK
    }
}
