// SPDX-License-Identifier: Apache-2.0
internal import Curl

extension NginxStep {
    /// Why nobody gets as far as asking.
    func judge(_ failure: ConnectionProbe.Failure) -> Finding {
        switch failure {
        case .unresolvable:
            return .wrong("\(site.host) has no address", cure: "its entry in the DNS, or --url")
        case .refused:
            return .wrong(
                "nobody listens on port \(site.port) of \(site.host)",
                cure:
                    "`systemctl status nginx`, `nginx -t`; `listen \(site.port)\(site.scheme == "https" ? " ssl" : "");` "
                    + "in \(server)")
        case .timedOut:
            return .wrong(
                "no connection to port \(site.port) of \(site.host) in time",
                cure: "a firewall before it, or an address in the DNS that is not this host's")
        case .noTLS:
            return .wrong(
                "port \(site.port) of \(site.host) does not speak TLS, or none that is current",
                cure:
                    "`listen \(site.port) ssl;` and `ssl_protocols TLSv1.2 TLSv1.3;` in \(server)")
        case .certificate(let fault, let certificate):
            return .wrong(
                "the certificate of \(site.host) \(fault.text(certificate))", cure: cure(fault))
        case .caFile: return .wrong("--ca-file cannot be used", cure: "--ca-file: a file of certificates in PEM form")
        case .proxy, .other:
            return .wrong(
                "no connection to \(site): \(failure)", cure: "nginx's error_log, and `systemctl status nginx`")
        }
    }

    private func cure(_ fault: ConnectionProbe.Fault) -> String {
        switch fault {
        case .expired: "`certbot renew`, then `systemctl reload nginx`, which reads ssl_certificate anew"
        case .notYetValid: "`date`; `timedatectl set-ntp true`"
        case .otherName:
            "ssl_certificate in \(server); without such a server { } nginx shows "
                + "that of another"
        case .selfSigned, .unknownIssuer, .other:
            "ssl_certificate in \(server): a certificate that apps trust, with its intermediate ones "
                + "(fullchain.pem); for a private authority, --ca-file"
        }
    }
}
