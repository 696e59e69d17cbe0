// SPDX-License-Identifier: Apache-2.0
internal import DeviceAPI
package import FastCGI
internal import HTTP
internal import HTTPTypes
internal import JSON

/// Whether the service answers on its socket, and whether the web server may connect to it.
package struct SocketStep: Sendable {
    /// Where the shipped unit puts the socket.
    package static let shippedPath = "/run/app-backend/app-backend.sock"

    /// What a running service says of itself.
    package struct Service: Sendable {
        /// Of its program; empty for one that does not say so.
        package var version: String
        package var isWell: Bool
        /// `writable`, `readOnly`, `poisoned`.
        package var store: String
        package var workersBusy: Int
        package var workers: Int
        package var configuration: RunningConfiguration?
    }

    /// As the configuration has it: a path, or an address and a port.
    let name: String
    let address: ListenAddress
    /// Whether systemd opens the socket, and not the service.
    let isSystemds: Bool
    /// Who the web server runs as; nil: no such user here.
    let webServer: Account?
    let webServerName: String

    /// - Parameter isOurs: whether the configuration's `listen` names it, so that the service makes it itself.
    package init(name: String, address: ListenAddress, isOurs: Bool, webServerName: String) {
        self.name = name
        self.address = address
        isSystemds = !isOurs
        webServer = Account(named: webServerName)
        self.webServerName = webServerName
    }

    /// Asks the service for `/health` and `/api/config`.
    /// - Parameter seconds: that each question may take.
    /// - Throws: `FastCGIProbe.Failure`.
    package func ask(seconds: UInt16) throws(FastCGIProbe.Failure) -> Service {
        guard let probe = FastCGIProbe(address, timeoutSeconds: seconds) else { throw .missing }
        let health = try probe.get(Path.health)
        guard let service = Service(health: health) else { throw .notFastCGI }
        var whole = service
        whole.configuration = RunningConfiguration(try probe.get(Path.config))
        return whole
    }

    /// - Parameters:
    ///   - answer: what came of asking.
    ///   - version: of this program.
    ///   - configuration: as this program reads it; nil where it is faulty.
    package func findings(
        _ answer: Result<Service, FastCGIProbe.Failure>, version: String, configuration: RunningConfiguration?
    ) -> [Finding] {
        switch answer {
        case .failure(let failure): [judge(failure)] + judgeAccess()
        case .success(let service):
            judge(service, version, configuration) + judgeAccess()
        }
    }

    private func judge(
        _ service: Service, _ version: String, _ configuration: RunningConfiguration?
    ) -> [Finding] {
        var findings: [Finding] = []
        if !service.isWell {
            let busy = "\(service.workersBusy) of \(service.workers) workers are busy"
            findings.append(
                .wrong(
                    "\(name): the service calls itself unavailable: its store is \(service.store), \(busy)",
                    cure: service.store == "writable"
                        ? "`workers`, or `hub.timeout` when it is the hub that is slow" : "see the line `store`"))
        }
        if service.version != version {
            let theirs = service.version.isEmpty ? "an older version" : service.version
            findings.append(
                .warning(
                    "\(name): \(theirs) answers, and this is \(version)", cure: "`systemctl restart app-backend`"))
        }
        let differences = configuration.flatMap { service.configuration?.differences(from: $0) } ?? []
        if !differences.isEmpty {
            findings.append(
                .warning(
                    "\(name): the service runs with another \(differences.joined(separator: ", ")) than is configured",
                    cure: "`systemctl reload app-backend`; or --config: another file than the unit's"))
        }
        guard findings.isEmpty else { return findings }
        return [.ok("\(name): \(version) answers, \(service.workersBusy) of \(service.workers) workers are busy")]
    }
}

extension SocketStep.Service {
    /// Nil, when the answer is not that of `/health`.
    init?(health response: Response) {
        guard let json = try? JSONValue(parsing: response.body), json["status"]?.string != nil,
            let store = json["store"]?.string
        else { return nil }
        self.init(
            version: json["version"]?.string ?? "", isWell: response.status == .ok, store: store,
            workersBusy: Int(json["workers"]?["busy"]?.integer ?? 0),
            workers: Int(json["workers"]?["total"]?.integer ?? 0), configuration: nil)
    }
}
