// SPDX-License-Identifier: Apache-2.0
import NotificationHub
import Support
import Testing
import Text

@Suite struct SignatureTests {
    static let expiry: Int64 = 1_767_225_600
    static let verifier = SharedAccessSignature.Verifier(keys: [Sample.accessKey], hosts: [Sample.host])

    /// What three kinds of clients send, signed by none of our code.
    static let vectors: [(header: String, path: String)] = [
        (
            "SharedAccessSignature sr=http%3a%2f%2fcontoso-ns.servicebus.windows.net%2fcontosohub%2fmessages%2f&"
                + "sig=ED%2bGXq1rGnNSH6MEiBi3c4BOPvew02zRaNR7vZzk3pY%3d&se=1767225600&skn=\(Sample.keyName)",
            "/contosoHub/messages"
        ),
        (
            "SharedAccessSignature sr=https%3A%2F%2Fcontoso-ns.servicebus.windows.net%2F&"
                + "sig=BTu1r1KFKf1QD85jcj4fpORyS5jWJlQluNmopvE3jXI%3D&se=1767225600&skn=\(Sample.keyName)",
            "/any/path"
        ),
        (
            "SharedAccessSignature sr=https%3a%2f%2fcontoso-ns.servicebus.windows.net%2fcontosohub%2fregistrations"
                + "%2f123-456-1%3fapi-version%3d2020-06&sig=NEkklSDnlj2dNtg%2Fy4n35JmBajbm%2BEXHwKVF3ghT3Hk%3D&"
                + "se=1767225600&skn=\(Sample.keyName)",
            "/contosoHub/registrations/123-456-1"
        ),
    ]

    @Test(arguments: vectors.indices)
    func `a known client's signature opens its path until it expires`(_ row: Int) throws {
        let (header, path) = Self.vectors[row]
        #expect(try Self.verifier.verify(header: header, path: path, now: Self.expiry - 1).rights == .full)
        #expect(throws: SignatureError.expired) {
            try Self.verifier.verify(header: header, path: path, now: Self.expiry)
        }
    }

    @Test func `we sign as dotnet does`() {
        let made = SharedAccessSignature.make(
            resource: "http://Contoso-NS.servicebus.windows.net/contosoHub/messages/", key: Sample.accessKey,
            expiry: Self.expiry)
        #expect(made == Self.vectors[0].header)
    }

    @Test func `the order of the parts and the case of the scheme do not matter`() throws {
        for (header, path) in Self.vectors {
            let parts = header.split(separator: " ")[1].split(separator: "&")
            let turned = "sharedaccesssignature " + parts.reversed().joined(separator: "&")
            #expect(try Self.verifier.verify(header: turned, path: path, now: 0).rights == .full)
        }
    }

    /// Audiences as clients spell them, and whether they open `/myHub/tags/a%27b/registrations`.
    static let audiences: [(resource: String, error: SignatureError?)] = [
        ("https://contoso-ns.servicebus.windows.net", nil),
        ("https://CONTOSO-ns.servicebus.windows.net/", nil),
        ("http://contoso-ns.servicebus.windows.net/myhub", nil),
        ("sb://contoso-ns.servicebus.windows.net:443/MYHUB/", nil),
        ("https://contoso-ns.servicebus.windows.net:8443/myhub/tags/", nil),
        ("https://contoso-ns.servicebus.windows.net/myhub/tags/a%27b/registrations/?api-version=2020-06&$top=1", nil),
        ("https://contoso-ns.servicebus.windows.net/myhub/tags/a'b/registrations", nil),
        ("https://contoso-ns.servicebus.windows.net/?x=/other", nil),
        ("https://contoso-ns.servicebus.windows.net/my", .otherPath),
        ("https://contoso-ns.servicebus.windows.net/myhub/tag", .otherPath),
        ("https://contoso-ns.servicebus.windows.net/myhub/tags/a/registrations", .otherPath),
        ("https://contoso-ns.servicebus.windows.net/myhub/tags/a%27b/registrations/more", .otherPath),
        ("https://other.servicebus.windows.net/myhub", .otherHost),
        ("https://contoso-ns.servicebus.windows.net.evil.example/myhub", .otherHost),
        ("https://contoso-ns.servicebus.windows.net@evil.example/myhub", .malformed),
        ("ftp://contoso-ns.servicebus.windows.net/myhub", .malformed),
        ("contoso-ns.servicebus.windows.net/myhub", .malformed),
        ("", .malformed),
    ]

    @Test(arguments: audiences.indices)
    func `the audience counts by host and by whole segments of the path`(_ row: Int) throws {
        let (resource, error) = Self.audiences[row]
        let header = SharedAccessSignature.make(resource: resource, key: Sample.accessKey, expiry: 10)
        let path = "/myHub/tags/a%27b/registrations"
        if let error {
            #expect(throws: error) { try Self.verifier.verify(header: header, path: path, now: 0) }
        } else {
            #expect(try Self.verifier.verify(header: header, path: path, now: 0).rights == .full)
        }
    }

    static let broken: [(change: @Sendable (String) -> String?, error: SignatureError)] = [
        ({ _ in nil }, .missing),
        ({ _ in "" }, .missing),
        ({ _ in "Basic YTpi" }, .missing),
        ({ _ in "SharedAccessSignature" }, .missing),
        ({ _ in "SharedAccessSignature x" }, .malformed),
        ({ $0 + String(repeating: "x", count: SharedAccessSignature.maximumLength) }, .missing),
        ({ $0 + "&se=99" }, .malformed),
        ({ $0.replacing("&se=1767225600", with: "") }, .malformed),
        ({ $0.replacing("se=1767225600", with: "se=99999999999999999999") }, .malformed),
        ({ $0.replacing("se=1767225600", with: "se=-1") }, .malformed),
        ({ $0.replacing("se=1767225600", with: "se=1767225601") }, .wrongSignature),
        ({ $0.replacing("sig=ED", with: "sig=EE") }, .wrongSignature),
        ({ $0.replacing("sig=ED", with: "sig=%zz") }, .malformed),
        ({ $0.replacing("%3d&se", with: "&se") }, .malformed),
        ({ $0.replacing("pY%3d", with: "pZ%3d") }, .malformed),
        ({ $0.replacing("messages%2f", with: "messages") }, .wrongSignature),
        ({ $0.replacing("skn=Default", with: "skn=default") }, .unknownKey),
    ]

    @Test(arguments: broken.indices)
    func `a token that was tampered with is refused, and the log learns why`(_ row: Int) {
        let header = Self.broken[row].change(Self.vectors[0].header)
        #expect(throws: Self.broken[row].error) {
            try Self.verifier.verify(header: header, path: Self.vectors[0].path, now: 0)
        }
    }

    @Test func `the second key of a name opens with its own rights, base-64-decoded keys do not`() throws {
        let listen = SharedAccessKey(name: Sample.keyName, key: Secret("second"), rights: .listen)
        let verifier = SharedAccessSignature.Verifier(keys: [Sample.accessKey, listen], hosts: [Sample.host])
        let header = SharedAccessSignature.make(resource: "https://\(Sample.host)/h", key: listen, expiry: 10)
        #expect(try verifier.verify(header: header, path: "/h/x", now: 0).rights == .listen)
        let decoded = Self.vectors[2].header.replacing(
            "NEkklSDnlj2dNtg%2Fy4n35JmBajbm%2BEXHwKVF3ghT3Hk%3D",
            with: "easLb4wXkPnDpnKyh3ocIHlIT9ILbhHv%2F90z6ss%2BEqs%3D")
        #expect(throws: SignatureError.wrongSignature) {
            try verifier.verify(header: decoded, path: Self.vectors[2].path, now: 0)
        }
    }

    @Test func `no mutation of a token opens another host or outlives its expiry`() {
        var random = SeededRandom(seed: 0x5A5)
        for _ in 0..<4000 {
            let vector = Self.vectors[Int.random(in: 0..<3, using: &random)]
            let header = random.mutate(vector.header)
            let rights = try? Self.verifier.verify(header: header, path: vector.path, now: 0).rights
            // What still opens says the same: the signed part is untouched, or the change only adds what is ignored.
            if rights != nil { #expect(header.contains("contoso-ns") && header.contains("1767225600")) }
            #expect(throws: SignatureError.self) {
                try Self.verifier.verify(header: header, path: vector.path, now: .max)
            }
        }
    }
}

@Suite struct Base64Tests {
    /// RFC 4648 section 10, and the characters in which the alphabets differ.
    static let rows: [(bytes: [UInt8], standard: String, url: String)] = [
        ([], "", ""), ([UInt8]("f".utf8), "Zg==", "Zg"), ([UInt8]("fo".utf8), "Zm8=", "Zm8"),
        ([UInt8]("foo".utf8), "Zm9v", "Zm9v"), ([UInt8]("foobar".utf8), "Zm9vYmFy", "Zm9vYmFy"),
        ([0xFB, 0xEF, 0xFF], "++//", "--__"), ([0xFF], "/w==", "_w"),
    ]

    @Test(arguments: rows.indices)
    func `bytes become text and text bytes`(_ row: Int) {
        let (bytes, standard, url) = Self.rows[row]
        #expect(Base64.standard.encode(bytes) == standard)
        #expect(Base64.url.encode(bytes) == url)
        #expect(Base64.standard.decode(standard) == bytes)
        #expect(Base64.url.decode(url) == bytes)
    }

    @Test(arguments: ["Z", "Zg", "Zg=", "Zg===", "Zh==", "Zm9=", "Zm9v=", "Z g=", "Z=g=", "====", "++--", "\u{e9}w=="])
    func `a text that no encoder makes is refused`(_ text: String) {
        #expect(Base64.standard.decode(text) == nil)
    }

    @Test(arguments: ["Z", "Zg==", "Zg=", "Zh", "Zm9v=", "=Zg", "Z g", "Zm9vY", "++-_", "\u{e9}w"])
    func `a text that no encoder for URLs makes is refused`(_ text: String) {
        #expect(Base64.url.decode(text) == nil)
    }
}
