// SPDX-License-Identifier: Apache-2.0
package import Curl
internal import DeviceAPI
package import HTTP
internal import HTTPTypes

/// Whether the web server is there, presents a good certificate, and hands calls of the API to the service whole.
///
/// It asks as a stranger would: nothing it asks logs anybody in, counts as a failed log-in or changes anything.
package struct NginxStep: Sendable {
    let site: SiteAddress
    let realm: String?
    let files: NginxFiles
    let transport: any Responder

    /// - Parameters:
    ///   - realm: the service's own, which its challenge shows; nil: not known.
    ///   - files: nginx's, to be named.
    ///   - transport: the way to the site.
    package init(site: SiteAddress, realm: String?, files: NginxFiles, transport: any Responder) {
        self.site = site
        self.realm = realm
        self.files = files
        self.transport = transport
    }

    /// - Parameters:
    ///   - connection: what became of connecting to the site.
    ///   - now: seconds since 1970.
    package func findings(
        _ connection: Result<ConnectionProbe.Connection, ConnectionProbe.Failure>, now: Int64
    ) -> [Finding] {
        switch connection {
        case .failure(let failure): return [judge(failure)]
        case .success(let connection):
            let term = connection.certificate.flatMap { CertificateTerm($0, now: now) }
            let warning = term?.warning(
                "the certificate of \(site.host)",
                cure: "renew it (`certbot renew`), then `systemctl reload nginx`, which reads ssl_certificate anew")
            do {
                return [warning].compactMap(\.self) + (try judgeAnswers(connection, term))
            } catch {
                return [warning].compactMap(\.self) + [
                    .wrong(
                        "\(site) takes connections and does not answer: \(error)",
                        cure: "the line `socket`: nginx waits for the service; else nginx's error_log")
                ]
            }
        }
    }

    private func judgeAnswers(
        _ connection: ConnectionProbe.Connection, _ term: CertificateTerm?
    ) throws -> [Finding] {
        if let refusal = refusal(try ask(Path.config)) { return [refusal] }
        let challenges = try judgeChallenges()
        let others = try judgeKeys() + judgeHealth(connection)
        let isGood = !(challenges + others).contains { $0.verdict == .wrong }
        let certificate = term.map { ", its certificate is \($0.text)" } ?? ", without TLS"
        let good = Finding.ok("\(site) leads to the service\(certificate); credentials arrive there")
        return (isGood && challenges.isEmpty ? [good] : []) + challenges + others
    }

    /// As an operator finds it.
    var server: String { files.server(of: site.host) }

    func ask(_ path: String, _ fields: HTTPFields = [:], isBelowPrefix: Bool = true) throws -> Response {
        let path = (isBelowPrefix ? site.prefix.text : "") + path
        return try transport.respond(
            to: Request(method: .get, scheme: site.scheme, authority: site.authority, path: path, fields: fields))
    }
}
