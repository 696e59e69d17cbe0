// SPDX-License-Identifier: Apache-2.0
import Text

/// Takes the PKCS #8 bytes (RFC 5958) of a P-256 key out of a `.p8` file, and names what the file is otherwise.
enum PrivateKeyFile {
    /// The longest file that is read, in bytes; Apple's have 257.
    static let maximumLength = 8192

    /// - Parameter text: a PEM file (RFC 7468), or only its base64, which is the form that Azure's credentials have.
    /// - Returns: DER, which begins as a P-256 key does. Whether the rest is one, the caller's parser decides.
    /// - Throws: `APNsKeyError`.
    static func pkcs8(_ text: String) throws(APNsKeyError) -> [UInt8] {
        guard text.utf8.count <= maximumLength else { throw .notPEM }
        let lines = text.split(whereSeparator: \.isNewline).map { trimmed($0) }
        guard let begin = lines.firstIndex(where: { $0.hasPrefix(beginning) }) else { return try bare(lines) }
        let label = lines[begin].dropFirst(beginning.count).prefix { $0 != "-" }
        try check(label: label)
        let body = lines[(begin + 1)...].prefix { !$0.hasPrefix("-----") }
        // Without its end the file may have lost anything.
        guard lines.contains("-----END PRIVATE KEY-----"), let der = Base64.standard.decode(body.joined()) else {
            throw .damaged
        }
        return try check(der)
    }

    private static let beginning = "-----BEGIN "

    /// A byte order mark comes from editors on Windows.
    private static func trimmed(_ line: Substring) -> String {
        String(decoding: line.utf8.filter { $0 > 0x20 && $0 < 0x7F || $0 == 0x20 }, as: UTF8.self)
            .split(separator: " ").joined(separator: " ")
    }

    private static func bare(_ lines: [String]) throws(APNsKeyError) -> [UInt8] {
        guard let der = Base64.standard.decode(lines.joined()), !der.isEmpty else { throw .notPEM }
        return try check(der)
    }

    private static func check(label: Substring) throws(APNsKeyError) {
        switch label {
        case "PRIVATE KEY": return
        case "ENCRYPTED PRIVATE KEY": throw .encrypted
        case "EC PRIVATE KEY", "EC PARAMETERS": throw .sec1
        case "RSA PRIVATE KEY": throw .pkcs1
        case "CERTIFICATE": throw .certificate
        case _ where label.hasSuffix("PUBLIC KEY"): throw .publicKey
        default: throw .notPEM
        }
    }

    /// `SEQUENCE { INTEGER version, SEQUENCE { OID algorithm, OID curve }, … }`. Swift Crypto 4.5 compares no curve: it takes a key of
    /// any other that has as many bytes, and Apple would refuse every push.
    private static func check(_ der: [UInt8]) throws(APNsKeyError) -> [UInt8] {
        var outer = DERReader(der[...])
        guard var info = outer.element(tag: 0x30).map({ DERReader($0) }), info.element(tag: 0x02) != nil,
            var algorithm = info.element(tag: 0x30).map({ DERReader($0) }), let kind = algorithm.element(tag: 0x06)
        else { throw .damaged }
        guard kind.elementsEqual(ecPublicKey) else { throw .notEllipticCurve }
        guard let curve = algorithm.element(tag: 0x06) else { throw .damaged }
        guard curve.elementsEqual(p256) else { throw .otherCurve }
        return der
    }

    /// 1.2.840.10045.2.1 (RFC 5480 section 2.1.1).
    private static let ecPublicKey: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
    /// 1.2.840.10045.3.1.7, secp256r1 (RFC 5480 section 2.1.1.1).
    private static let p256: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
}

/// Reads elements of DER (X.690) one behind the other; only lengths below 64 KiB, which no key exceeds.
private struct DERReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
    }

    /// The next element's content; nil when it is another element or is not whole.
    mutating func element(tag: UInt8) -> ArraySlice<UInt8>? {
        guard rest.popFirst() == tag, let first = rest.popFirst() else { return nil }
        var length = Int(first)
        if first >= 0x80 {
            guard (1...2).contains(first & 0x7F) else { return nil }
            length = 0
            for _ in 0..<(first & 0x7F) {
                guard let byte = rest.popFirst() else { return nil }
                length = length << 8 | Int(byte)
            }
        }
        guard length <= rest.count else { return nil }
        defer { rest = rest.dropFirst(length) }
        return rest.prefix(length)
    }
}
