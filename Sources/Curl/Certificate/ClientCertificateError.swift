// SPDX-License-Identifier: Apache-2.0

/// Why libcurl could not show a client certificate, as the sentence goes on after the file's name.
package enum ClientCertificateError: Error, Equatable, Sendable, CustomStringConvertible {
    /// A PEM file without a certificate; `isContainer`: it is a PKCS #12 container under another name.
    case noCertificate(isContainer: Bool)
    /// The name says PKCS #12, and the content is something else.
    case notAContainer
    case noKey
    /// The key is not that of the certificate.
    case otherKey
    case needsPassword
    case wrongPassword
    /// A PKCS #12 container that is encrypted in a way that OpenSSL 3 does not open.
    case oldContainer
    /// Another of OpenSSL's reasons: `ee key too small`.
    case refused(String)

    /// Whether the password is at fault, and not the file.
    package var isOfPassword: Bool { self == .needsPassword || self == .wrongPassword }

    package var description: String {
        switch self {
        case .noCertificate(isContainer: false): "holds no certificate, neither as PEM nor as PKCS #12"
        case .noCertificate(isContainer: true):
            "holds no certificate in PEM form; the name of a PKCS #12 container must end in .p12 or .pfx"
        case .notAContainer: "is not a PKCS #12 container, which its name ends like; rename a PEM file to .pem"
        case .noKey: "holds a certificate, and not its private key: put both into one file"
        case .otherKey: "holds a private key that is not the certificate's"
        case .needsPassword: "is encrypted, and there is no password"
        case .wrongPassword: "does not open with this password"
        case .oldContainer:
            "is encrypted with RC2, which OpenSSL 3 does not open; convert it: "
                + "openssl pkcs12 -legacy -in FILE.p12 -nodes -out FILE.pem"
        case .refused(let reason): "is refused by OpenSSL: \(reason)"
        }
    }
}
