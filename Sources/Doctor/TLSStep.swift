// SPDX-License-Identifier: Apache-2.0
package import Curl

/// Whether the connection to the hub is secure.
package struct TLSStep: Sendable {
    private let hub: HubSubject

    package init(_ hub: HubSubject) {
        self.hub = hub
    }

    /// - Parameter now: seconds since 1970.
    package func findings(
        _ connection: Result<ConnectionProbe.Connection, ConnectionProbe.Failure>, now: Int64
    ) -> [Finding] {
        switch connection {
        case .success(let connection): judge(connection, now)
        case .failure(.certificate(let fault, let certificate)):
            [.wrong("the certificate of \(hub.host) \(fault.text(certificate))", cure: cure(fault))]
        case .failure(.noTLS):
            [.wrong("\(hub.host) does not speak TLS 1.2 or later", cure: "Endpoint in \(hub.connectionString)")]
        case .failure(.caFile):
            [
                .wrong(
                    "the file of hub.caFile cannot be used",
                    cure: "\(hub.setting("hub.caFile")): certificates in PEM form")
            ]
        case .failure: [.skipped("there is no connection to \(hub.host); see `hub`")]
        }
    }

    private func judge(_ connection: ConnectionProbe.Connection, _ now: Int64) -> [Finding] {
        guard let certificate = connection.certificate else { return [.skipped("\(hub.host) is called without TLS")] }
        let term = CertificateTerm(certificate, now: now)
        let warning = term?.warning("the certificate of \(hub.host)", cure: "whoever runs \(hub.host) must renew it")
        let good = Finding.ok("\(hub.host): its certificate is accepted\(term.map { ", and \($0.text)" } ?? "")")
        return [warning ?? good]
    }

    private func cure(_ fault: ConnectionProbe.Fault) -> String {
        switch fault {
        case .expired: "whoever runs \(hub.host) must renew it; `date`, if nobody else has that trouble"
        case .notYetValid: "`date`; `timedatectl set-ntp true`"
        case .otherName: "Endpoint in \(hub.connectionString)"
        case .selfSigned, .unknownIssuer, .other:
            hub.caFile.map { "\(hub.setting("hub.caFile")): \($0) must hold its issuer" }
                ?? "\(hub.setting("hub.caFile")) for a private hub or a proxy that opens TLS; for Azure's, "
                + "`apt-get install ca-certificates`"
        }
    }
}
