// SPDX-License-Identifier: Apache-2.0
package import HTTP

extension ConnectionFault {
    /// What is wrong, of a service that was named before.
    package var words: String {
        switch self {
        case .untrustedIssuer: "its certificate has an issuer that this host does not trust"
        case .expired: "its certificate has expired"
        case .notYetValid: "its certificate is not valid yet"
        case .otherHost: "its certificate is of another host"
        case .unverifiable: "its certificate cannot be verified"
        case .missingTrust: "this host has no certificates to verify it with"
        }
    }

    /// What to change.
    /// - Parameter caFile: the setting that names the certificates to trust.
    package func fix(caFile: String = "caFile") -> String {
        switch self {
        case .untrustedIssuer, .unverifiable:
            "install ca-certificates, or behind a proxy that opens TLS name the proxy's issuer in \(caFile)"
        case .missingTrust: "install ca-certificates, and check \(caFile)"
        case .expired, .notYetValid: "check this host's clock (timedatectl)"
        case .otherHost: "check the endpoint, and any proxy that opens TLS"
        }
    }

    /// Both in one sentence, for the log and for an operator who asks why a message waits.
    /// - Parameter service: `the push service`.
    func sentence(of service: String) -> String { "\(service) is not trusted: \(words); \(fix())" }
}
