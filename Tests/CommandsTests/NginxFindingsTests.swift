// SPDX-License-Identifier: Apache-2.0
import AppBackend
import Curl
import DeviceAPI
import HTTP
import HTTPTypes
import Testing

@testable import Commands

/// The judgement of the way from an app to the service, without an nginx.
struct NginxFindingsTests {
    /// What the way is like, and all that is found then.
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        var url = "https://push.example.com"
        var connection: Result<ConnectionProbe.Connection, ConnectionProbe.Failure> = .success(NginxFindingsTests.plain)
        var site: @Sendable (Request) -> Response = NginxFindingsTests.well
        var verdicts: [Verdict] = [.fail]
        /// A part of the sentences.
        let found: String
        /// A part of the fixes; empty: there is none.
        let fix: String

        var testDescription: String { name }
    }

    /// Without TLS, from another address of this host.
    private static let plain = ConnectionProbe.Connection(certificate: nil, localAddress: "192.0.2.7")
    private static let server = "the server { } of push.example.com (`nginx -T` shows where)"
    private static let include = "`include snippets/app-backend.conf;` in \(server)"
    private static let api = "if_not_empty;` in /etc/nginx/snippets/app-backend-api.conf"
    private static let upstream = "/etc/nginx/conf.d/app-backend-upstream.conf"

    /// A site that is as it should be.
    private static func well(_ request: Request) -> Response {
        switch request.path {
        case "/api/config":
            let isMalformed =
                request.fields[.idempotencyKey] != nil || has("App-Backend-User", request) || has("apikey", request)
            return isMalformed
                ? Response(status: .badRequest)
                : .json(Array(#"{"Platforms":[{"Name":"apns"}],"Realm":"AppBackend"}"#.utf8))
        case "/api/register":
            let isOfSession = request.fields.contains(.cookie) && !request.fields.contains(.authorization)
            let code = isOfSession ? ProblemCode.sessionEnded : .wrongCredentials
            return Response(
                status: .unauthorized, fields: [.wwwAuthenticate: "Basic realm=\"AppBackend\", charset=\"UTF-8\""],
                body: Array("{\"code\":\"\(code.rawValue)\"}".utf8))
        default: return Response(status: .notFound)
        }
    }

    private static func has(_ name: String, _ request: Request) -> Bool {
        HTTPField.Name(name).map { request.fields.contains($0) } ?? false
    }

    /// The same behind an nginx that does not pass the field on.
    private static func without(_ field: String) -> @Sendable (Request) -> Response {
        { request in
            var request = request
            if let name = HTTPField.Name(field) { request.fields[name] = nil }
            return well(request)
        }
    }

    /// The same with numbers for everyone.
    private static func withHealth(_ request: Request) -> Response {
        request.path == "/health" ? .json(Array(#"{"status":"ok","workers":{}}"#.utf8)) : well(request)
    }

    /// A site that answers everything so.
    private static func answer(
        _ status: Int, _ body: String = "", to location: String? = nil
    ) -> @Sendable (Request) -> Response {
        { _ in
            var response = Response(status: HTTPResponse.Status(code: status), body: Array(body.utf8))
            response.fields[.location] = location
            return response
        }
    }

    private static func from(_ localAddress: String) -> Result<ConnectionProbe.Connection, ConnectionProbe.Failure> {
        .success(.init(certificate: nil, localAddress: localAddress))
    }

    /// A connection from this host, with a certificate that ends in so many days.
    private static func ending(in days: Double) -> Result<ConnectionProbe.Connection, ConnectionProbe.Failure> {
        let certificate = ServerCertificate(
            subject: "CN = a", issuer: "CN = b", notBefore: 0, notAfter: Int64(days * 86_400))
        return .success(.init(certificate: certificate, localAddress: "127.0.0.1"))
    }

    private static let other = ServerCertificate(
        subject: "CN = a", issuer: "CN = a", names: "DNS:other.example", notBefore: 0, notAfter: 0)

    static let answers: [Row] = [
        Row(
            name: "Authorization", site: without("Authorization"), found: "nginx does not pass Authorization",
            fix: "`fastcgi_param HTTP_AUTHORIZATION $http_authorization \(api)"),
        Row(
            name: "Cookie", site: without("Cookie"), verdicts: [.warning], found: "cookies do not reach the service",
            fix: "`fastcgi_param HTTP_COOKIE $app_backend_cookie \(api)"),
        Row(
            name: "Idempotency-Key", site: without("Idempotency-Key"), verdicts: [.ok, .warning],
            found: "Idempotency-Key", fix: "`fastcgi_param HTTP_IDEMPOTENCY_KEY $http_idempotency_key \(api)"),
        Row(
            name: "App-Backend-User", site: without("App-Backend-User"), verdicts: [.ok, .warning],
            found: "App-Backend-User", fix: "`fastcgi_param HTTP_APP_BACKEND_USER $http_app_backend_user \(api)"),
        Row(
            name: "apikey", site: without("apikey"), verdicts: [.ok, .warning], found: "apikey",
            fix: "`fastcgi_param HTTP_APIKEY $http_apikey \(api)"),
        Row(
            name: "health for strangers", site: withHealth, verdicts: [.ok, .warning],
            found: "/health is open to 192.0.2.7", fix: "allow 127.0.0.1;"),
        Row(
            name: "health for this host", connection: from("127.0.0.1"), site: withHealth, verdicts: [.ok],
            found: "leads to the service", fix: ""),
        Row(
            name: "health for this host by IPv6", connection: from("::1"), site: withHealth, verdicts: [.ok],
            found: "leads to the service", fix: ""),
        Row(name: "a page for everything", site: answer(200, "hello"), found: "something else", fix: include),
        Row(name: "the snippet is not included", site: answer(404, "<html>"), found: "not known", fix: include),
        Row(
            name: "another server has the name", site: answer(404, "<html>"), found: "not known",
            fix: "another server { } of this name comes first: `nginx -t` then warns"),
        Row(
            name: "a redirect", site: answer(301, to: "https://elsewhere.example/api/config"),
            found: "https://elsewhere.example/api/config", fix: "--url, or the `return` in \(server)"),
        Row(
            name: "a redirect with a query", site: answer(302, to: "https://login.example/?token=secret"),
            found: "https://login.example/", fix: "--url"),
        Row(
            name: "a password before it", site: answer(401, "<html>"), found: "asks for a password",
            fix: "`auth_basic off;` in `location ^~ /api/`, or before its include, in \(server)"),
        Row(
            name: "refused", site: answer(403, "<html>"), found: "nginx refuses",
            fix: "`deny` and `limit_except` around the include of snippets/app-backend.conf in \(server)"),
        Row(
            name: "refused in the clear", url: "http://localhost:8080", site: answer(403), found: "in the clear",
            fix: "--url https://localhost"),
        Row(name: "no service", site: answer(502, "<html>"), found: "does not reach", fix: upstream),
        Row(
            name: "no service, by the snippet's code", site: answer(503, #"{"code":"serviceUnavailable"}"#),
            found: "does not reach",
            fix: upstream),
        Row(
            name: "the service's own 503", site: answer(503, #"{"code":"storeUnavailable"}"#),
            found: "the service answers 503", fix: "journalctl -u app-backend"),
        Row(name: "no answer", site: answer(504), found: "no answer", fix: "journalctl -u app-backend"),
        Row(name: "a teapot", site: answer(418), found: "is answered with 418", fix: "error_log"),
    ]

    static let connections: [Row] = [
        Row(name: "no address", connection: .failure(.unresolvable), found: "has no address", fix: "DNS"),
        Row(
            name: "nothing listens", url: "https://push.example.com:8443", connection: .failure(.refused),
            found: "nothing listens on port 8443",
            fix: "`systemctl status nginx`, `nginx -t`; `listen 8443 ssl;` in \(server)"),
        Row(name: "silence", connection: .failure(.timedOut), found: "in time", fix: "firewall"),
        Row(name: "no TLS", connection: .failure(.noTLS), found: "does not speak TLS", fix: "listen 443 ssl;"),
        Row(name: "--ca-file", connection: .failure(.caFile), found: "cannot be used", fix: "--ca-file"),
        Row(name: "other", connection: .failure(.other("x")), found: "no connection to", fix: "error_log"),
        Row(name: "proxy", connection: .failure(.proxy), found: "no connection to", fix: "error_log"),
        Row(
            name: "unknown issuer", connection: .failure(.certificate(.unknownIssuer, nil)),
            found: "of an issuer that this host does not know", fix: "fullchain.pem"),
        Row(
            name: "self-signed", connection: .failure(.certificate(.selfSigned, nil)), found: "signed by itself",
            fix: "ssl_certificate in \(server)"),
        Row(
            name: "other name", connection: .failure(.certificate(.otherName, other)), found: "other.example",
            fix: "ssl_certificate in \(server)"),
        Row(
            name: "20 days", connection: ending(in: 20.5), verdicts: [.warning, .ok], found: "only good for 20 days",
            fix: "certbot renew"),
        Row(
            name: "5 days", connection: ending(in: 5.5), verdicts: [.warning, .ok], found: "renew it now",
            fix: "certbot renew"),
        Row(
            name: "12 hours", connection: ending(in: 0.5), verdicts: [.warning, .ok],
            found: "nothing works when it has ended", fix: "certbot renew"),
    ]

    private static func findings(_ row: Row) throws -> [Finding] {
        let address = try #require(SiteAddress(row.url))
        let step = NginxStep(site: address, transport: ClosureResponder(row.site))
        return NginxFindings(site: address, realm: "AppBackend").findings(row.connection, now: 0) { try step.ask($0) }
    }

    @Test(arguments: answers + connections)
    func `a fault on the way is found without a secret, and the directive or the part is named`(row: Row) throws {
        let findings = try Self.findings(row)
        let found = findings.map(\.found).joined(separator: "\n")
        let fixes = findings.compactMap(\.fix).joined(separator: "\n")
        #expect(
            findings.map(\.verdict) == row.verdicts && found.contains(row.found) && !found.contains("secret")
                && (row.fix.isEmpty ? fixes.isEmpty : fixes.contains(row.fix)), "\(findings)")
    }

    @Test func `no question could log a user in or change anything`() throws {
        let good = Row(
            name: "a look at each question",
            site: { request in
                #expect(request.method == .get && request.body.isEmpty && request.query.isEmpty)
                if let credentials = request.fields[.authorization] {
                    #expect(BasicCredentials(fields: [.authorization: credentials]) == nil)
                }
                if let key = request.fields[.idempotencyKey] { #expect(IdempotencyKey(field: key) == nil) }
                return Self.well(request)
            }, found: "", fix: "")
        #expect(try Self.findings(good).map(\.verdict) == [.ok])
    }

    @Test(
        arguments: [
            ("https://push.example.com", "https://push.example.com", ""),
            ("https://Push.Example.com/", "https://push.example.com", ""),
            ("http://localhost:8080", "http://localhost:8080", ""), ("https://[::1]:8443", "https://[::1]:8443", ""),
            ("https://Shop.example.com:8443/push/", "https://shop.example.com:8443/push", "/push"),
            ("https://a.example/a/b", "https://a.example/a/b", "/a/b"), ("https://a.example/api", nil, ""),
            ("https://a.example/push/api", nil, ""), ("https://a.example//", nil, ""),
            ("https://a.example/..", nil, ""), ("https://a.example/a?b", nil, ""), ("https://a.example/a b", nil, ""),
            ("https:///push", nil, ""), ("", nil, ""), ("push.example.com", nil, ""), ("ftp://a.example", nil, ""),
            ("https://", nil, ""), ("https://user@a.example", nil, ""), ("https://a.example:0", nil, ""),
        ] as [(String, String?, String)])
    func `an address is a scheme, a host, perhaps a port and perhaps a prefix`(
        text: String, printed: String?, prefix: String
    ) {
        let address = SiteAddress(text)
        #expect(address?.description == printed && (address?.prefix.text ?? "") == prefix)
    }
}
