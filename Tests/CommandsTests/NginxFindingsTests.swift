// SPDX-License-Identifier: Apache-2.0
import AppBackend
import Curl
import DeviceAPI
import HTTP
import HTTPTypes
import Testing

@testable import Commands

/// What no nginx of a test can show.
struct NginxFindingsTests {
    private static let config = Response.json(Array(#"{"Platforms":[{"Name":"apns"}],"Realm":"AppBackend"}"#.utf8))

    /// A site that is as it should be.
    private static func well(_ request: Request) -> Response {
        switch request.path {
        case "/api/config":
            let isMalformed =
                request.fields[.idempotencyKey] != nil || has("App-Backend-User", request) || has("apikey", request)
            return isMalformed ? Response(status: .badRequest) : config
        case "/api/register":
            let detail = request.fields.contains(.authorization) ? Challenge.wrongCredentials : Challenge.endedSession
            return Response(
                status: .unauthorized, fields: [.wwwAuthenticate: "Basic realm=\"AppBackend\", charset=\"UTF-8\""],
                body: Array("{\"detail\":\"\(detail)\"}".utf8))
        default: return Response(status: .notFound)
        }
    }

    private static func has(_ name: String, _ request: Request) -> Bool {
        HTTPField.Name(name).map { request.fields.contains($0) } ?? false
    }

    private static func findings(
        localAddress: String = "192.0.2.7", _ site: @escaping @Sendable (Request) -> Response
    ) throws -> [Finding] {
        let address = try #require(SiteAddress("https://push.example.com"))
        let step = NginxStep(site: address, transport: ClosureResponder { site($0) })
        return NginxFindings(site: address, realm: "AppBackend")
            .findings(.success(.init(certificate: nil, localAddress: localAddress)), now: 0) { try step.ask($0) }
    }

    @Test(
        arguments: [
            ("https://push.example.com", "https://push.example.com", ""),
            ("https://Shop.example.com:8443/push/", "https://shop.example.com:8443/push", "/push"),
            ("https://a.example/a/b", "https://a.example/a/b", "/a/b"), ("https://a.example/api", nil, ""),
            ("https://a.example/push/api", nil, ""), ("https://a.example//", nil, ""),
            ("https://a.example/..", nil, ""),
            ("https://a.example/a?b", nil, ""), ("https://a.example/a b", nil, ""), ("https:///push", nil, ""),
        ] as [(String, String?, String)])
    func `an address may have a prefix`(text: String, printed: String?, prefix: String) {
        let address = SiteAddress(text)
        #expect(address?.description == printed && (address?.prefix.text ?? "") == prefix)
    }

    @Test func `nothing that could log anybody in or change anything is asked`() throws {
        let good = try Self.findings { request in
            #expect(request.method == .get && request.body.isEmpty && request.query.isEmpty)
            if let credentials = request.fields[.authorization] {
                #expect(BasicCredentials(fields: [.authorization: credentials]) == nil)
            }
            if let key = request.fields[.idempotencyKey] { #expect(IdempotencyKey(field: key) == nil) }
            return Self.well(request)
        }
        #expect(good.map(\.verdict) == [.ok])
    }

    static let fields = [
        ("Idempotency-Key", "HTTP_IDEMPOTENCY_KEY $http_idempotency_key"),
        ("App-Backend-User", "HTTP_APP_BACKEND_USER $http_app_backend_user"), ("apikey", "HTTP_APIKEY $http_apikey"),
    ]

    @Test(arguments: fields)
    func `a field that does not arrive is a warning, and the directive is named`(field: String, line: String) throws {
        let name = try #require(HTTPField.Name(field))
        let found = try Self.findings { request in
            var request = request
            request.fields[name] = nil
            return Self.well(request)
        }
        #expect(found.map(\.verdict) == [.ok, .warning])
        #expect(found.last?.found.contains(field) == true && found.last?.fix?.contains(line) == true)
    }

    static let addresses: [(String, [Verdict])] = [
        ("192.0.2.7", [.ok, .warning]), ("127.0.0.1", [.ok]), ("::1", [.ok]),
    ]

    @Test(arguments: addresses)
    func `health that strangers may read is a warning`(address: String, verdicts: [Verdict]) throws {
        let found = try Self.findings(localAddress: address) { request in
            request.path == "/health"
                ? Response.json(Array(#"{"status":"ok","workers":{}}"#.utf8)) : Self.well(request)
        }
        #expect(found.map(\.verdict) == verdicts)
    }

    @Test(arguments: [
        (502, "<html>", "app-backend-upstream.conf"),
        (503, #"{"detail":"The service is not available just now."}"#, "app-backend-upstream.conf"),
        (503, #"{"detail":"The store cannot be written."}"#, "journalctl -u app-backend"),
        (504, "", "journalctl -u app-backend"), (418, "", "error_log"),
    ]) func `the fix names the part that does not answer`(status: Int, body: String, fix: String) throws {
        let found = try Self.findings { _ in
            Response(status: HTTPResponse.Status(code: status), body: Array(body.utf8))
        }
        #expect(found.map(\.verdict) == [.fail] && found.first?.fix?.contains(fix) == true)
    }

    @Test func `what follows a redirect's question mark is not shown`() throws {
        let found = try Self.findings { _ in
            Response(status: .found, fields: [.location: "https://login.example/?token=secret"])
        }
        #expect(found.first?.found.contains("https://login.example/") == true)
        #expect(found.first?.found.contains("secret") == false)
    }

    static let failures: [(ConnectionProbe.Failure, String)] = [
        (.unresolvable, "DNS"), (.timedOut, "firewall"), (.noTLS, "listen 443 ssl;"),
        (.caFile, "--ca-file"), (.other("x"), "error_log"), (.proxy, "error_log"),
        (.certificate(.unknownIssuer, nil), "fullchain.pem"),
    ]

    @Test(arguments: failures) func `why there is no connection decides what to change`(
        failure: ConnectionProbe.Failure, fix: String
    ) throws {
        let address = try #require(SiteAddress("https://push.example.com"))
        let found = NginxFindings(site: address, realm: nil).findings(.failure(failure), now: 0) { _ in
            NginxStep.Answers(config: Response())
        }
        #expect(found.map(\.verdict) == [.fail] && found.first?.fix?.contains(fix) == true)
    }
}
