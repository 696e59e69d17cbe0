// SPDX-License-Identifier: Apache-2.0
import Curl
import Foundation
import Support
import Testing
import Text

/// Certificates and keys, made by the command that operators use.
private final class MadeFiles: Sendable {
    let folder: ScratchFolder

    init() throws {
        folder = try ScratchFolder()
        for name in ["one", "two"] { try makePair(name, ["ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]) }
        try makePair("rsa", ["rsa:2048"])
        try makePair("weak", ["rsa:1024"])
        try openssl([
            "pkcs8", "-topk8", "-in", path("one.key"), "-passout", "pass:secret", "-out", path("encrypted.key"),
        ])
        try openssl([
            "pkcs8", "-topk8", "-iter", "1", "-in", path("one.key"), "-passout", "pass:secret", "-out",
            path("quick.key"),
        ])
        try makeContainer("good.p12", [])
        try makeContainer("old.p12", ["-legacy"])
        try makeContainer("keyless.p12", ["-nokeys"])
        try join("both.pem", "one.crt", "one.key")
        try join("other.pem", "one.crt", "two.key")
        try join("otherKind.pem", "one.crt", "rsa.key")
        try join("weak.pem", "weak.crt", "weak.key")
        try join("encrypted.pem", "one.crt", "encrypted.key")
        try join("quick.pem", "one.crt", "quick.key")
        try FileManager.default.copyItem(atPath: path("good.p12"), toPath: path("container.pem"))
        try FileManager.default.copyItem(atPath: path("both.pem"), toPath: path("pem.p12"))
        try folder.write("neither", to: "text.pem")
    }

    func path(_ name: String) -> String { folder.path(name) }

    private func makePair(_ name: String, _ kind: [String]) throws {
        try openssl(
            ["req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=test", "-newkey"] + kind
                + ["-keyout", path("\(name).key"), "-out", path("\(name).crt")])
    }

    private func makeContainer(_ name: String, _ options: [String]) throws {
        try openssl(
            ["pkcs12", "-export", "-in", path("one.crt"), "-inkey", path("one.key"), "-passout", "pass:secret"]
                + ["-out", path(name)] + options)
    }

    private func join(_ name: String, _ parts: String...) throws {
        try folder.write(try parts.map { try String(contentsOfFile: path($0), encoding: .utf8) }.joined(), to: name)
    }

    private func openssl(_ arguments: [String]) throws {
        let made = try ChildProcess("/usr/bin/openssl", arguments)
        try #require(made.wait(seconds: Patience.seconds) == 0)
    }
}

@Suite struct `A client certificate's file` {
    private func read(_ name: String, _ password: String?, in files: MadeFiles) throws -> ClientCertificate.Content {
        try ClientCertificate(file: files.path(name), password: password.map { Secret($0) }).read()
    }

    @Test func `that libcurl could show tells its end`() throws {
        let files = try MadeFiles()
        let good: [(String, String?)] = [
            ("both.pem", nil), ("encrypted.pem", "secret"), ("good.p12", "secret"), ("both.pem", "unused"),
        ]
        for (name, password) in good {
            let content = try read(name, password, in: files)
            let left = try #require(content.notAfter) - Int64(Date().timeIntervalSince1970)
            #expect((86_400...2 * 86_400).contains(left), "\(name)")
            // It is not of Apple, and lists no topics.
            #expect(content.isFor(topic: "com.example.app"))
        }
    }

    private static let faults: [(name: String, password: String?, error: ClientCertificateError)] = [
        ("one.crt", nil, .noKey), ("one.key", nil, .noCertificate(isContainer: false)),
        ("text.pem", nil, .noCertificate(isContainer: false)),
        ("container.pem", "secret", .noCertificate(isContainer: true)), ("pem.p12", nil, .notAContainer),
        ("other.pem", nil, .otherKey), ("otherKind.pem", nil, .otherKey), ("encrypted.pem", nil, .needsPassword),
        ("encrypted.pem", "wrong", .wrongPassword), ("good.p12", nil, .needsPassword),
        ("good.p12", "wrong", .wrongPassword), ("keyless.p12", "secret", .noKey),
        ("old.p12", "secret", .oldContainer), ("weak.pem", nil, .refused("ee key too small")),
    ]

    @Test func `that libcurl could not show says why`() throws {
        let files = try MadeFiles()
        for row in Self.faults {
            #expect(throws: row.error, "\(row.name)") { try read(row.name, row.password, in: files) }
        }
    }

    /// Four of a thousand make bytes that look decrypted.
    @Test func `says of every wrong password that it is wrong`() throws {
        let files = try MadeFiles()
        for number in 1...2_000 {
            #expect(throws: ClientCertificateError.wrongPassword) { try read("quick.pem", "wrong\(number)", in: files) }
        }
    }
}
