// SPDX-License-Identifier: Apache-2.0
import Curl

/// Judges the connection to the hub, its key and the hub itself.
struct HubFindings: Sendable {
    /// Every hub of Azure's begins with these two policies.
    private static let listenPolicy = "DefaultListenSharedAccessSignature"
    private static let fullPolicy = "DefaultFullSharedAccessSignature"

    let name: String
    /// The endpoint's host, with its port where one is named.
    let host: String
    /// The policy's name.
    let keyName: String
    let caFile: String?
    let platforms: [String]
    let setting: SettingName

    /// The key of the configuration that holds endpoint, key name and key, and where else it may be.
    private var connectionString: String { "\(setting("hub.connectionString")) (or in the credential of that name)" }

    // MARK: tls

    /// - Parameter now: seconds since 1970.
    func tls(_ connection: Result<ConnectionProbe.Connection, ConnectionProbe.Failure>, now: Int64) -> Finding {
        switch connection {
        case .success(let connection):
            guard let certificate = connection.certificate else { return .skipped("\(host) is called without TLS") }
            let term = CertificateTerm(certificate, now: now)
            return term?.warning("the certificate of \(host)", fix: "the operator of \(host) must renew it")
                ?? .ok("\(host): its certificate is accepted\(term.map { ", and \($0.text)" } ?? "")")
        case .failure(.certificate(let fault, let certificate)):
            return .fail("the certificate of \(host) \(fault.text(certificate))", fix: fix(fault))
        case .failure(.noTLS):
            return .fail("\(host) does not speak TLS 1.2 or later", fix: "Endpoint in \(connectionString)")
        case .failure(.caFile):
            return .fail(
                "the file of hub.caFile cannot be used", fix: "\(setting("hub.caFile")): certificates in PEM form")
        case .failure: return .skipped("there is no connection to \(host); see `hub`")
        }
    }

    private func fix(_ fault: ConnectionProbe.Fault) -> String {
        switch fault {
        case .expired: "the operator of \(host) must renew it; `date`, if no other host has that trouble"
        case .notYetValid: "`date`; `timedatectl set-ntp true`"
        case .otherName: "Endpoint in \(connectionString)"
        case .selfSigned, .unknownIssuer, .other:
            caFile.map { "\(setting("hub.caFile")): \($0) must hold its issuer" }
                ?? "\(setting("hub.caFile")) for a private hub or a proxy that opens TLS; for Azure's, "
                + "`apt-get install ca-certificates`"
        }
    }

    // MARK: key

    /// - Parameter isClockWrong: whether signatures fail because of the clock, whatever the key.
    func key(_ answer: HubAnswer?, isClockWrong: Bool) -> Finding {
        switch answer {
        case nil: .skipped("the hub was not asked")
        case .accepted: .ok("\(keyName) is accepted, and has all rights")
        case .badSignature where isClockWrong, .expired where isClockWrong:
            .skipped("the hub refuses the signature, as it must while the clock is wrong; see `clock`")
        case .badSignature:
            .fail(
                "the hub does not accept the signature: the key is not that of \(keyName), or of another hub"
                    + ([Self.fullPolicy, Self.listenPolicy].contains(keyName)
                        ? "" : ". \(keyName) is not one of the two policies that every hub has"),
                fix: "SharedAccessKeyName and SharedAccessKey in \(connectionString): copy the string of "
                    + "\(Self.fullPolicy) again")
        case .expired: .fail("the hub calls the signature expired", fix: "`date`; `timedatectl set-ntp true`")
        case .missingRight:
            // Which right it has cannot be asked without using it.
            .fail(
                keyName == Self.listenPolicy
                    ? "\(keyName) may register devices, and can never send"
                    : "\(keyName) is accepted, and lacks rights",
                fix:
                    "SharedAccessKeyName and SharedAccessKey in \(connectionString): those of \(Self.fullPolicy), or a "
                    + "policy with Listen, Send and Manage")
        case .noSuchHub, .notAHub, .failing, .throttled, .noAnswer:
            .skipped("the hub has not said what it thinks of the key; see `hub`")
        }
    }

    // MARK: hub

    /// - Parameter answer: to a signed question; nil: it was not asked.
    func hub(
        _ connection: Result<ConnectionProbe.Connection, ConnectionProbe.Failure>, _ answer: HubAnswer?
    ) -> Finding {
        if case .failure(let failure) = connection { return judge(failure) }
        return switch answer {
        case .accepted:
            .ok(
                "\(name) at \(host) answers. Its credentials for \(platforms.joined(separator: ", ")) are not shown to "
                    + "this key: after a send look at GET /api/notifications/outcomes/ID")
        case .badSignature, .expired, .missingRight: .skipped("\(host) answers as a hub; see `key`")
        case .noSuchHub:
            .fail("\(host) has no hub \(name)", fix: "\(setting("hub.name")), or EntityPath in the string")
        case .notAHub(let status):
            .fail(
                "\(host) answers \(status), and not as a hub",
                fix: "Endpoint in \(connectionString); \(setting("hub.name")); for a hub of this product there, "
                    + "localHub.serve, and `include snippets/app-backend-hub.conf;` in its nginx")
        case .throttled: .warning("the hub has too many calls at present", fix: "the hub's tier; try again later")
        case .failing(let status):
            .fail(
                "the hub is out of order: it answers \(status)",
                fix: "the status page of Azure, or the log of a hub of this product; try again")
        case .noAnswer(let reason):
            .fail("the hub does not answer: \(reason)", fix: "try again; \(setting("hub.timeout"))")
        case nil: .skipped("the hub was not asked; see `tls`")
        }
    }

    private func judge(_ failure: ConnectionProbe.Failure) -> Finding {
        switch failure {
        case .unresolvable:
            .fail(
                "\(host) has no address",
                fix: "Endpoint in \(connectionString): the namespace; `getent hosts \(host)`: the resolver")
        case .refused: .fail("nothing listens at \(host)", fix: "Endpoint in \(connectionString)")
        case .timedOut:
            .fail(
                "no connection to \(host) in time",
                fix: "a firewall: TCP port 443 outwards; \(setting("hub.proxy")), where one is needed")
        case .proxy:
            .fail("the proxy does not lead to \(host)", fix: "\(setting("hub.proxy")); the proxy's own log")
        case .certificate, .noTLS, .caFile: .skipped("there is no secure connection; see `tls`")
        case .other(let reason):
            .fail("no connection to \(host): \(reason)", fix: "Endpoint in \(connectionString)")
        }
    }
}
