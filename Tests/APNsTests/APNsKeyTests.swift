// SPDX-License-Identifier: Apache-2.0
import Crypto
import JSON
import Testing
import Text

@testable import APNs

/// A key that is made for the tests.
struct TestKey {
    let pair = P256.Signing.PrivateKey()

    var pem: Secret { Secret(pair.pemRepresentation) }

    func key(keyID: String = "ABC123DEFG", teamID: String = "DEF123GHIJ") throws(APNsKeyError) -> APNsKey {
        try APNsKey(pem: pem, keyID: keyID, teamID: teamID)
    }
}

private func pem(_ label: String, _ body: String) -> String {
    "-----BEGIN \(label)-----\n\(body)\n-----END \(label)-----\n"
}

/// The beginning of a PKCS #8 file (RFC 5958) with that algorithm and no key.
private func pkcs8(algorithm: [UInt8]) -> String {
    let info: [UInt8] = [0x02, 0x01, 0x00, 0x30, UInt8(algorithm.count)] + algorithm + [0x04, 0x00]
    return pem("PRIVATE KEY", Base64.standard.encode([0x30, UInt8(info.count)] + info))
}

private let rsa: [UInt8] = [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00]
private let p256: [UInt8] = [
    0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07,
]

/// A whole file that names another curve of as many bytes: 1.2.840.10045.3.1.6.
private var ofOtherCurve: String {
    var der = Array(TestKey().pair.derRepresentation)
    let name = p256.suffix(10)
    if let start = der.indices.first(where: { der[$0...].starts(with: name) }) { der[start + name.count - 1] = 0x06 }
    return pem("PRIVATE KEY", Base64.standard.encode(der))
}

@Suite struct `A key of APNs` {
    @Test func `signs a token that its public key verifies`() throws {
        let file = TestKey()
        let token = try file.key().token(issuedAt: 1_800_000_000).reveal()
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        #expect(parts.count == 3)
        let json = try parts.prefix(2).map { try JSONValue(parsing: #require(Base64.url.decode($0))) }
        #expect(json[0] == .object([.init("alg", .string("ES256")), .init("kid", .string("ABC123DEFG"))]))
        #expect(json[1] == .object([.init("iss", .string("DEF123GHIJ")), .init("iat", .number("1800000000"))]))
        let bytes = try #require(Base64.url.decode(parts[2]))
        #expect(bytes.count == 64)
        let signature = try P256.Signing.ECDSASignature(rawRepresentation: bytes)
        let signed = Array(parts.prefix(2).joined(separator: ".").utf8)
        #expect(file.pair.publicKey.isValidSignature(signature, for: signed))
    }

    @Test func `is read with the line ends of any system, and without its first and last line`() throws {
        let text = TestKey().pem.reveal()
        let body = text.split(separator: "\n").filter { !$0.hasPrefix("-") }
        let texts = [
            text.replacing("\n", with: "\r\n"), "\u{FEFF}" + text, "\n  " + text + "\n\n", body.joined(),
            body.joined(separator: "\r\n"),
        ]
        for text in texts {
            #expect(throws: Never.self) { try APNsKey(pem: Secret(text), keyID: "ABC123DEFG", teamID: "DEF123GHIJ") }
        }
    }

    static let others: [(text: String, error: APNsKeyError)] = [
        ("", .notPEM), ("hello", .notPEM), (String(repeating: "A", count: 8196), .notPEM),
        (pem("DH PARAMETERS", "AAAA"), .notPEM),
        (pem("ENCRYPTED PRIVATE KEY", "MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAc"), .encrypted),
        (TestKey().pair.publicKey.pemRepresentation, .publicKey), (pem("RSA PUBLIC KEY", "AAAA"), .publicKey),
        (pem("CERTIFICATE", "AAAA"), .certificate), (pem("RSA PRIVATE KEY", "AAAA"), .pkcs1),
        (pem("EC PRIVATE KEY", "AAAA"), .sec1),
        (pem("EC PARAMETERS", "BggqhkjOPQMBBw==") + pem("EC PRIVATE KEY", "AAAA"), .sec1),
        (pkcs8(algorithm: rsa), .notEllipticCurve), (P384.Signing.PrivateKey().pemRepresentation, .otherCurve),
        (P521.Signing.PrivateKey().pemRepresentation, .otherCurve), (ofOtherCurve, .otherCurve),
        (pkcs8(algorithm: p256), .damaged),
        (pem("PRIVATE KEY", "AAAA"), .damaged), (pem("PRIVATE KEY", "%"), .damaged),
        (String(TestKey().pem.reveal().dropLast(20)), .damaged), (pem("PRIVATE KEY", ""), .damaged),
        (pem("PRIVATE KEY", "MIP///8="), .damaged), ("AAAA", .damaged),
    ]

    @Test(arguments: others.indices)
    func `is not what is something else, and the error says what it is`(_ row: Int) {
        #expect(throws: Self.others[row].error) {
            try APNsKey(pem: Secret(Self.others[row].text), keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
        }
    }

    @Test(arguments: ["", "ABC123DEF", "ABC123DEFGH", "abc123defg", "ABC-23DEFG", "ÄBC123DEF", "ABC123DEF "])
    func `has ids of ten capital letters and digits`(_ id: String) {
        #expect(throws: APNsKeyError.badKeyID) { try TestKey().key(keyID: id) }
        #expect(throws: APNsKeyError.badTeamID) { try TestKey().key(teamID: id) }
    }

    @Test func `is not printed`() throws {
        let key = try TestKey().key()
        var dumped = ""
        dump(key, to: &dumped)
        #expect("\(key) \(String(reflecting: key)) \(Optional(key) as Any)" == "*** *** Optional(***)")
        #expect(!dumped.contains("DEF123GHIJ") && dumped.contains("***"))
    }
}
