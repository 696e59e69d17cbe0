// SPDX-License-Identifier: Apache-2.0
import Curl

/// Judges how long an accepted certificate stays good.
struct CertificateTerm: Sendable {
    /// From so many days before its end a certificate is warned of. Let's Encrypt's are renewed at 30.
    static let noticeDays: Int64 = 30
    static let urgentDays: Int64 = 7
    static let lastDays: Int64 = 1

    private static let secondsPerDay: Int64 = 86_400

    private let secondsLeft: Int64

    /// - Parameter now: seconds since 1970.
    /// - Returns: nil, when the certificate does not say until when it is good.
    init?(_ certificate: ServerCertificate, now: Int64) {
        guard let notAfter = certificate.notAfter else { return nil }
        secondsLeft = notAfter.subtractingReportingOverflow(now).partialValue
    }

    private var days: Int64 { secondsLeft / Self.secondsPerDay }

    /// `good for 64 days`.
    var text: String {
        days >= 2 ? "good for \(days) days" : "good for \(max(0, secondsLeft / 3600)) hours"
    }

    /// Nil when it is good for longer than that.
    /// - Parameters:
    ///   - subject: whose certificate, as a sentence begins: `the certificate of push.example.com`.
    ///   - fix: how it is renewed.
    func warning(_ subject: String, fix: String) -> Finding? {
        guard days < Self.noticeDays else { return nil }
        let urgency =
            days < Self.lastDays
            ? ": nothing works when it has ended" : days < Self.urgentDays ? ": renew it now" : ""
        return .warning("\(subject) is only \(text)\(urgency)", fix: fix)
    }
}

extension ConnectionProbe.Fault {
    /// As the sentence goes on after the certificate: `has expired`.
    func text(_ certificate: ServerCertificate?) -> String {
        switch self {
        case .expired: "has expired"
        case .notYetValid: "is not valid yet; or the clock of this host is wrong"
        case .selfSigned: "is signed by itself, so no client trusts it"
        case .unknownIssuer: "is of an issuer that this host does not know\(certificate.map { ": \($0.issuer)" } ?? "")"
        case .otherName:
            "is for other names\(certificate.map { ": \($0.names.isEmpty ? $0.subject : $0.names)" } ?? "")"
        case .other(let code): "is not accepted (OpenSSL's reason \(code))"
        }
    }
}
