// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTP
import Support
import Testing

@testable import Curl

struct ConnectionProbeTests {
    private static func failure(_ probe: ConnectionProbe) -> ConnectionProbe.Failure? {
        do throws(ConnectionProbe.Failure) {
            _ = try probe.connect()
            return nil
        } catch {
            return error
        }
    }

    private static func probe(
        _ scheme: String, _ authority: String, caFile: String? = nil, proxy: String? = nil
    ) -> ConnectionProbe {
        ConnectionProbe(
            scheme: scheme, authority: authority, caFile: caFile, proxy: proxy, timeout: Patience.duration)
    }

    @Test func `a good connection tells its certificate`() throws {
        try LocalServer.run { server in
            let connection = try Self.probe("https", server.authority, caFile: server.certificate).connect()
            let certificate = try #require(connection.certificate)
            #expect(certificate.subject.hasSuffix("localhost") && certificate.issuer == certificate.subject)
            #expect(certificate.names == "DNS:localhost" && connection.localAddress == "127.0.0.1")
            // Made for two days a moment ago.
            let now = Int64(Date().timeIntervalSince1970)
            let end = try #require(certificate.notAfter)
            let start = try #require(certificate.notBefore)
            #expect(start <= now && end - start == 2 * 86_400)
        }
    }

    @Test func `an error says what is wrong with a certificate, and which it is`() throws {
        try LocalServer.run { server in
            let unknown = Self.probe("https", server.authority)
            guard case .certificate(.selfSigned, let certificate?) = Self.failure(unknown) else {
                Issue.record("self-signed expected")
                return
            }
            #expect(certificate.subject.hasSuffix("localhost"))
            let named = Self.probe("https", "127.0.0.1:\(server.tlsPort)", caFile: server.certificate)
            guard case .certificate(.otherName, let other?) = Self.failure(named) else {
                Issue.record("another name expected")
                return
            }
            #expect(other.names == "DNS:localhost")
        }
    }

    @Test func `a server without TLS, one that does not listen and one that does not answer are told apart`() throws {
        let refusing = try LoopbackPort()
        let closed = "127.0.0.1:\(refusing.number)"
        try LocalServer.run { server in
            let plain = "localhost:\(server.plainPort)"
            #expect(Self.failure(Self.probe("https", plain)) == .noTLS)
            let open = try Self.probe("http", plain).connect()
            #expect(open.certificate == nil && open.localAddress == "127.0.0.1")
            let noFile = Self.probe("https", server.authority, caFile: "/nowhere.pem")
            #expect(Self.failure(noFile) == .caFile)
            let viaClosed = Self.probe(
                "https", server.authority, caFile: server.certificate, proxy: "http://" + closed)
            #expect(Self.failure(viaClosed) == .proxy)
        }
        #expect(Self.failure(Self.probe("https", closed)) == .refused)
        let silent = try LoopbackListener()
        let waiting = ConnectionProbe(
            scheme: "https", authority: "127.0.0.1:\(silent.port)", timeout: .milliseconds(50))
        #expect(Self.failure(waiting) == .timedOut)
    }

    @Test(arguments: [
        (0, ConnectionFault.otherHost), (1, .otherHost), (9, .notYetValid), (10, .expired), (18, .untrustedIssuer),
        (20, .untrustedIssuer), (23, .unverifiable),
    ])
    func `what OpenSSL says of a certificate is a fault that operators can correct`(number: Int, fault: ConnectionFault)
    {
        #expect(ConnectionFault(number) == fault)
    }

    @Test func `a certificate's lines are read, also when there are none`() {
        let certificate = ServerCertificate(lines: [
            "Subject:CN = a", "Issuer:O = b", "Start date:Feb  9 15:26:25 2027 GMT", "Expire date:soon",
            "X509v3 Subject Alternative Name:DNS:a, DNS:b",
        ])
        #expect(
            certificate
                == ServerCertificate(
                    subject: "CN = a", issuer: "O = b", names: "DNS:a, DNS:b", notBefore: 1_802_186_785, notAfter: nil))
        let none = ServerCertificate(lines: [])
        #expect(none.subject.isEmpty && none.notBefore == nil && none.notAfter == nil)
        #expect(ServerCertificate(lines: ["Subject:" + String(repeating: "x", count: 9_999)]).subject.count == 200)
    }
}
