// SPDX-License-Identifier: Apache-2.0
internal import Crypto
internal import CryptoExtras

/// A private key for RS256 (RFC 7518 section 3.3).
struct RSASigningKey: Sendable {
    /// In bits; RFC 7518 demands it.
    static let minimumBits = 2048

    /// Why a text is not such a key. It does not repeat the text.
    enum Malformed: String, Error, CustomStringConvertible {
        case lostLines = "has lost its line breaks: in the file they must be \\n, with one backslash"
        case notPEM = "is not a whole PEM text, from BEGIN PRIVATE KEY to END PRIVATE KEY"
        case encrypted = "is encrypted; the file must hold the key as Google gave it"
        case publicKey = "is a public key or a certificate, not a private key"
        case notRSA = "is not an RSA key"
        case tooShort = "is shorter than 2048 bits"

        var description: String { rawValue }
    }

    private let key: _RSA.Signing.PrivateKey

    /// - Parameter pem: PKCS#8 (`BEGIN PRIVATE KEY`) or PKCS#1 (`BEGIN RSA PRIVATE KEY`).
    init(pem: String) throws(Malformed) {
        try Self.checkEnvelope(pem)
        do {
            // Of 1024 bits or more; the size is checked here, so that the error can name it.
            let key = try _RSA.Signing.PrivateKey(unsafePEMRepresentation: pem)
            guard key.keySizeInBits >= Self.minimumBits else { throw Malformed.tooShort }
            self.key = key
        } catch Malformed.tooShort {
            throw .tooShort
        } catch CryptoKitError.incorrectParameterSize {
            throw .tooShort
        } catch {
            throw .notRSA
        }
    }

    private static func checkEnvelope(_ pem: String) throws(Malformed) {
        let lines = pem.split(whereSeparator: \.isNewline)
        guard !pem.contains("\\n"), lines.count > 2 || !pem.contains("-----BEGIN") else { throw .lostLines }
        if pem.contains("BEGIN ENCRYPTED") || pem.contains("ENCRYPTED\n") { throw .encrypted }
        if pem.contains("BEGIN PUBLIC KEY") || pem.contains("BEGIN CERTIFICATE") { throw .publicKey }
        guard let first = lines.first, let last = lines.last, first.hasPrefix("-----BEGIN "),
            first.hasSuffix(" KEY-----"), last.hasPrefix("-----END "), last.hasSuffix(" KEY-----")
        else { throw .notPEM }
    }

    /// - Throws: what swift-crypto throws, for want of memory.
    func signature(of text: String) throws -> [UInt8] {
        // The padding of RS256. swift-crypto calls it insecure for its use in encryption.
        let digest = SHA256.hash(data: Array(text.utf8))
        return [UInt8](try key.signature(for: digest, padding: .insecurePKCS1v1_5).rawRepresentation)
    }
}
