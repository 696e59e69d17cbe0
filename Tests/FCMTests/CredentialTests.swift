// SPDX-License-Identifier: Apache-2.0
import Crypto
import CryptoExtras
import JSON
import Testing
import Text

@testable import FCM

@Suite struct `A credential file of Google's` {
    @Test func `of a service account names its project`() throws {
        let credential = try GoogleCredential(Keys.serviceAccount())
        #expect(credential.projectID == "app-1" && credential.localAuthorities.isEmpty)
        #expect("\(credential)" == "***" && String(reflecting: credential) == "***")
    }

    @Test func `may name the metadata server in the place of a key`() throws {
        let credential = try GoogleCredential(Array(#"{"type":"metadata_server","project_id":"app-1"}"#.utf8))
        #expect(credential.projectID == "app-1" && credential.localAuthorities == ["metadata.google.internal:80"])
        #expect(fault(Array(#"{"type":"metadata_server"}"#.utf8))?.member == "project_id")
    }

    @Test
    func `of workload identity federation has its project from the account that it takes on, or from the operator`()
        throws
    {
        let source = JSONValue.object([.init("file", .string("/t"))])
        let url =
            "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/a@app-2.iam.gserviceaccount.com:g"
        let account = Keys.externalAccount(
            source: source, ["service_account_impersonation_url": .string(url), "project_id": .null])
        #expect(try GoogleCredential(account).projectID == "app-2")
        #expect(try GoogleCredential(Keys.externalAccount(source: source)).projectID == "app-1")
        #expect(fault(Keys.externalAccount(source: source, ["project_id": .null]))?.member == "project_id")
    }

    private func fault(_ text: [UInt8]) -> GoogleCredentialError? {
        do throws(GoogleCredentialError) {
            _ = try GoogleCredential(text)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        ("", ""), ("[]", ""), ("{}", "type"), (#"{"type":5}"#, "type"), (#"{"type":"authorized_user"}"#, "type"),
        (#"{"type":"impersonated_service_account"}"#, "type"), (#"{"type":"gdch_service_account"}"#, "type"),
        (#"{"type":"external_account_authorized_user"}"#, "type"), ("metadata", ""),
    ])
    func `of another kind is refused by name`(text: String, member: String) {
        #expect(fault(Array(text.utf8))?.member == member)
    }

    @Test(arguments: ["project_id", "private_key_id", "private_key", "client_email", "token_uri"])
    func `of a service account lacks nothing`(member: String) {
        #expect(fault(Keys.serviceAccount(without: member))?.member == member)
        #expect(fault(Keys.serviceAccount([member: .number("5")]))?.member == member)
        #expect(fault(Keys.serviceAccount([member: .string("")]))?.member == member)
    }

    @Test(arguments: [
        "http://oauth2.googleapis.com/token", "https://evil.example/token", "https://googleapis.com.evil.example/",
        "https://oauth2.googleapis.com@evil.example/", "https://169.254.169.254/token", "https://localhost:8443/token",
        "file:///etc/passwd", "https://oauth2.googleapis.com:8443/token",
    ])
    func `names no host but Google's`(url: String) throws {
        #expect(fault(Keys.serviceAccount(["token_uri": .string(url)]))?.member == "token_uri")
        let file = Keys.externalAccount(source: .object([.init("file", .string("/t"))]), ["token_url": .string(url)])
        #expect(fault(file)?.member == "token_url")
        let impersonating = Keys.externalAccount(
            source: .object([.init("file", .string("/t"))]), ["service_account_impersonation_url": .string(url)])
        #expect(fault(impersonating)?.member == "service_account_impersonation_url")
    }

    @Test func `may name the host that the operator has named`() throws {
        let file = Keys.serviceAccount(["token_uri": .string("https://localhost:8443/token")])
        _ = try GoogleCredential(file, trusting: Authority("localhost:8443"))
        #expect(throws: GoogleCredentialError.self) {
            try GoogleCredential(file, trusting: Authority("localhost:8444"))
        }
    }

    @Test func `of another universe is refused`() {
        let file = Keys.serviceAccount(["universe_domain": .string("example.cloud")])
        #expect(fault(file)?.member == "universe_domain")
    }
}

@Suite struct `A service account's key` {
    private func fault(_ pem: String) -> RSASigningKey.Malformed? {
        do throws(RSASigningKey.Malformed) {
            _ = try RSASigningKey(pem: pem)
            return nil
        } catch {
            return error
        }
    }

    @Test func `is PKCS number 8 or PKCS number 1`() throws {
        let key = try #require(Keys.rsa)
        #expect(fault(key.pkcs8PEMRepresentation) == nil)
        #expect(fault(key.pemRepresentation) == nil)
        #expect(fault(key.pkcs8PEMRepresentation + "\n") == nil)
        #expect(fault(key.pkcs8PEMRepresentation.replacing("\n", with: "\r\n")) == nil)
    }

    @Test func `is refused by the name of its fault`() throws {
        let key = try #require(Keys.rsa)
        let pem = key.pkcs8PEMRepresentation
        #expect(fault(pem.replacing("\n", with: "\\n")) == .lostLines)
        #expect(fault(pem.replacing("\n", with: " ")) == .lostLines)
        #expect(fault(String(pem.dropLast(30))) == .notPEM)
        #expect(fault(pem.split(separator: "\n").dropLast().joined(separator: "\n")) == .notPEM)
        #expect(fault("secret") == .notPEM)
        #expect(fault(pem.replacing("PRIVATE KEY", with: "ENCRYPTED PRIVATE KEY")) == .encrypted)
        #expect(fault(key.publicKey.pemRepresentation) == .publicKey)
        #expect(fault(P256.Signing.PrivateKey().pemRepresentation) == .notRSA)
        let lines = pem.split(separator: "\n")
        #expect(fault((lines.prefix(5) + lines.suffix(3)).joined(separator: "\n")) == .notRSA)
        let short = try _RSA.Signing.PrivateKey(unsafeKeySize: .init(bitCount: 1024))
        #expect(fault(short.pemRepresentation) == .tooShort)
    }

    @Test func `signs as RS256 does`() throws {
        let key = try #require(Keys.rsa)
        let signature = try RSASigningKey(pem: key.pkcs8PEMRepresentation).signature(of: "text")
        let digest = SHA256.hash(data: Array("text".utf8))
        #expect(signature.count == 256)
        #expect(
            key.publicKey.isValidSignature(
                .init(rawRepresentation: signature), for: digest, padding: .insecurePKCS1v1_5))
    }
}

@Suite struct `The source of a subject token` {
    private func fault(_ source: JSONValue) -> GoogleCredentialError? {
        do throws(GoogleCredentialError) {
            _ = try GoogleCredential(Keys.externalAccount(source: source))
            return nil
        } catch {
            return error
        }
    }

    private func object(_ members: (String, JSONValue)...) -> JSONValue {
        .object(members.map { JSONValue.Member($0.0, $0.1) })
    }

    @Test func `is a file, or a URL of https, or one of this machine`() throws {
        #expect(fault(object(("file", .string("/run/token")))) == nil)
        for url in ["https://id.example/token", "http://169.254.169.254/metadata/identity", "http://127.0.0.1:50342/x"]
        {
            #expect(fault(object(("url", .string(url)))) == nil)
        }
        for url in ["http://id.example/token", "http://10.0.0.1/", "file:///etc/passwd", ""] {
            #expect(fault(object(("url", .string(url))))?.member == "credential_source.url")
        }
    }

    @Test func `is named, so that the transport can allow its address, and plain HTTP where it speaks that`() throws {
        let source = object(("url", .string("http://169.254.169.254/metadata/identity")))
        let plain = try GoogleCredential(Keys.externalAccount(source: source))
        #expect(plain.localAuthorities == ["169.254.169.254:80"] && plain.usesPlainHTTP)
        let secure = object(("url", .string("https://id.example/token")))
        let encrypted = try GoogleCredential(Keys.externalAccount(source: secure))
        #expect(encrypted.localAuthorities == ["id.example:443"] && !encrypted.usesPlainHTTP)
    }

    @Test func `is refused by name where it is another`() {
        for name in ["executable", "environment_id", "certificate"] {
            #expect(fault(object((name, .string("x"))))?.member == "credential_source.\(name)")
        }
        #expect(fault(.string("x"))?.member == "credential_source")
        #expect(fault(.null)?.member == "credential_source")
        let url = ("url", JSONValue.string("https://id.example/"))
        #expect(fault(object(url, ("headers", object(("A b", .string("c"))))))?.member == "credential_source.headers")
        #expect(fault(object(url, ("headers", object(("A", .number("5"))))))?.member == "credential_source.headers.A")
        #expect(
            fault(object(url, ("format", object(("type", .string("xml"))))))?.member == "credential_source.format.type")
        #expect(
            fault(object(url, ("format", object(("type", .string("json"))))))?.member
                == "credential_source.format.subject_token_field_name")
    }
}
