// SPDX-License-Identifier: Apache-2.0
package import Curl

/// Whether the hub can be reached and is the one that is meant.
package struct HubStep: Sendable {
    private let hub: HubSubject
    /// What is sent to.
    private let platforms: [String]

    package init(_ hub: HubSubject, platforms: [String]) {
        self.hub = hub
        self.platforms = platforms
    }

    /// - Parameters:
    ///   - connection: what became of connecting to its host.
    ///   - answer: to a signed question; nil: it was not asked.
    package func findings(
        _ connection: Result<ConnectionProbe.Connection, ConnectionProbe.Failure>, _ answer: HubAnswer?
    ) -> [Finding] {
        if case .failure(let failure) = connection { return [judge(failure)] }
        switch answer {
        case .accepted: return [good]
        case .badSignature, .expired, .missingRight: return [.skipped("\(hub.host) answers as a hub; see `key`")]
        case .noSuchHub:
            return [
                .wrong(
                    "\(hub.host) has no hub \(hub.name)",
                    cure: "\(hub.setting("hub.name")), or EntityPath in the string")
            ]
        case .notAHub(let status):
            return [
                .wrong(
                    "\(hub.host) answers \(status), and not as a hub",
                    cure: "Endpoint in \(hub.connectionString); \(hub.setting("hub.name")); for a hub of this product "
                        + "there, localHub.serve, and `include snippets/app-backend-hub.conf;` in its nginx")
            ]
        case .throttled:
            return [.warning("the hub has too many calls at present", cure: "the hub's tier; come again later")]
        case .failing(let status):
            return [
                .wrong(
                    "the hub is out of order: it answers \(status)",
                    cure: "the status page of Azure, or the log of a hub of this product; try again")
            ]
        case .noAnswer(let reason):
            return [.wrong("the hub does not answer: \(reason)", cure: "try again; \(hub.setting("hub.timeout"))")]
        case nil: return [.skipped("the hub was not asked; see `tls`")]
        }
    }

    private var good: Finding {
        .ok(
            "\(hub.name) at \(hub.host) answers. Its credentials for \(platforms.joined(separator: ", ")) are not shown to "
                + "this key: after a send look at GET /api/notifications/outcomes/ID")
    }

    private func judge(_ failure: ConnectionProbe.Failure) -> Finding {
        switch failure {
        case .unresolvable:
            .wrong(
                "\(hub.host) has no address",
                cure: "Endpoint in \(hub.connectionString): the namespace; `getent hosts \(hub.host)`: the resolver")
        case .refused: .wrong("nobody listens at \(hub.host)", cure: "Endpoint in \(hub.connectionString)")
        case .timedOut:
            .wrong(
                "no connection to \(hub.host) in time",
                cure: "a firewall: TCP port 443 outwards; \(hub.setting("hub.proxy")), where one is needed")
        case .proxy:
            .wrong(
                "the proxy does not lead to \(hub.host)",
                cure: "\(hub.setting("hub.proxy")); the proxy's own log")
        case .certificate, .noTLS, .caFile: .skipped("there is no secure connection; see `tls`")
        case .other(let reason):
            .wrong("no connection to \(hub.host): \(reason)", cure: "Endpoint in \(hub.connectionString)")
        }
    }
}
