// SPDX-License-Identifier: Apache-2.0
import Curl
import DeviceAPI
import HTTP
import HTTPTypes
import JSON

/// Judges the way from an app to the service: the connection, its certificate, and what the web server passes on.
struct NginxFindings: Sendable {
    private static let api = "/etc/nginx/snippets/app-backend-api.conf"
    private static let monitor = "/etc/nginx/snippets/app-backend-monitor.conf"
    private static let upstream = "/etc/nginx/conf.d/app-backend-upstream.conf"

    let site: SiteAddress
    /// The service's own, which its challenge shows; nil: not known.
    let realm: String?

    /// - Parameter now: seconds since 1970.
    func findings(
        _ connection: Result<ConnectionProbe.Connection, ConnectionProbe.Failure>, now: Int64,
        ask: (ConnectionProbe.Connection) throws -> NginxStep.Answers
    ) -> [Finding] {
        switch connection {
        case .failure(let failure): return [judge(failure)]
        case .success(let connection):
            let term = connection.certificate.flatMap { CertificateTerm($0, now: now) }
            let warning = term?.warning(
                "the certificate of \(site.host)",
                fix: "renew it (`certbot renew`), then `systemctl reload nginx`, which reads ssl_certificate again")
            let findings: [Finding]
            do {
                findings = judge(try ask(connection), from: connection.localAddress, term)
            } catch {
                findings = [
                    .fail(
                        "\(site) takes connections and does not answer: \(error)",
                        fix: "the line `socket`: nginx waits for the service; else nginx's error_log")
                ]
            }
            return [warning].compactMap(\.self) + findings
        }
    }

    private var server: String { "the server { } of \(site.host) (`nginx -T` shows where)" }

    // MARK: The connection

    private func judge(_ failure: ConnectionProbe.Failure) -> Finding {
        switch failure {
        case .unresolvable: .fail("\(site.host) has no address", fix: "its entry in the DNS, or --url")
        case .refused:
            .fail(
                "nothing listens on port \(site.port) of \(site.host)",
                fix:
                    "`systemctl status nginx`, `nginx -t`; `listen \(site.port)\(site.scheme == "https" ? " ssl" : "");` in "
                    + server)
        case .timedOut:
            .fail(
                "no connection to port \(site.port) of \(site.host) in time",
                fix: "a firewall before it, or an address in the DNS that is not this host's")
        case .noTLS:
            .fail(
                "port \(site.port) of \(site.host) does not speak TLS, or none that is current",
                fix: "`listen \(site.port) ssl;` and `ssl_protocols TLSv1.2 TLSv1.3;` in \(server)")
        case .certificate(let fault, let certificate):
            .fail("the certificate of \(site.host) \(fault.text(certificate))", fix: fix(fault))
        case .caFile: .fail("--ca-file cannot be used", fix: "--ca-file: a file of certificates in PEM form")
        case .proxy, .other:
            .fail("no connection to \(site): \(failure)", fix: "nginx's error_log, and `systemctl status nginx`")
        }
    }

    private func fix(_ fault: ConnectionProbe.Fault) -> String {
        switch fault {
        case .expired: "`certbot renew`, then `systemctl reload nginx`, which reads ssl_certificate again"
        case .notYetValid: "`date`; `timedatectl set-ntp true`"
        case .otherName: "ssl_certificate in \(server); without such a server { } nginx shows that of another"
        case .selfSigned, .unknownIssuer, .other:
            "ssl_certificate in \(server): a certificate that apps trust, with its intermediate ones (fullchain.pem); for a "
                + "private authority, --ca-file"
        }
    }

    // MARK: The answers

    private func judge(_ answers: NginxStep.Answers, from address: String, _ term: CertificateTerm?) -> [Finding] {
        if RunningConfiguration(answers.config) == nil { return [refusal(answers.config)] }
        let certificate = term.map { ", its certificate is \($0.text)" } ?? ", without TLS"
        let challenges = challengeFindings(answers)
        let good = Finding.ok("\(site) leads to the service\(certificate); credentials arrive there")
        return (challenges.isEmpty ? [good] : challenges)
            + [Finding](table: [
                warn(
                    when: answers.withKey.map { $0.status != .badRequest } ?? false,
                    "nginx does not pass Idempotency-Key on, so what an app sends again is sent twice",
                    fix: "`fastcgi_param HTTP_IDEMPOTENCY_KEY $http_idempotency_key if_not_empty;` in \(Self.api)"),
                warn(
                    when: answers.withUser.map { $0.status != .badRequest } ?? false,
                    "nginx does not pass App-Backend-User on, so the page may act for a user who has logged in in another "
                        + "window",
                    fix: "`fastcgi_param HTTP_APP_BACKEND_USER $http_app_backend_user if_not_empty;` in \(Self.api)"),
                warn(
                    when: answers.withAPIKey.map { $0.status != .badRequest } ?? false,
                    "nginx does not pass apikey on, so no app of the tutorial for .NET MAUI can log in",
                    fix: "`fastcgi_param HTTP_APIKEY $http_apikey if_not_empty;` in \(Self.api)"),
                warn(
                    when: answers.health.map(isHealth) ?? false,
                    "\(site.origin)/health is open to \(address), and so perhaps to everyone",
                    fix: "`allow 127.0.0.1; allow ::1; deny all;` in `location = /health` of \(Self.monitor)"),
            ])
    }

    /// Whether `Authorization` arrives. The service's challenge to a cookie without credentials differs from that to wrong
    /// credentials, whether there is a cookie or not.
    private func challengeFindings(_ answers: NginxStep.Answers) -> [Finding] {
        guard let withCookie = answers.withCookie, withCookie.status == .unauthorized,
            let challenge = withCookie.fields[.wwwAuthenticate]
        else {
            return [
                .fail(
                    "\(site)\(Path.register) is answered with \(answers.withCookie?.status.code ?? 0), not with the service's "
                        + "challenge",
                    fix:
                        "`location ^~ \(site.prefix)/api/` in \(server), which snippets/app-backend.conf has, must take all "
                        + "of \(site.prefix)/api/; no auth_basic before it")
            ]
        }
        let hasCookie = Problem(withCookie).code == .sessionEnded
        return [Finding](table: [
            warn(
                when: realm.map { !challenge.contains("\"\($0)\"") } ?? false,
                "the service behind \(site) has another realm than the configuration: \(challenge.prefix(100))",
                fix: "`systemctl restart app-backend`, when auth.realm was changed; else another service answers"),
            warn(
                when: !hasCookie,
                "cookies do not reach the service, so the page's log-in ends at once; whether Authorization does "
                    + "cannot be told then",
                fix: "`fastcgi_param HTTP_COOKIE $app_backend_cookie if_not_empty;` in \(Self.api)"),
            fail(
                when: hasCookie && answers.withCredentials.map { Problem($0).code } != .wrongCredentials,
                "nginx does not pass Authorization on, so no user can log in",
                fix: "`fastcgi_param HTTP_AUTHORIZATION $http_authorization if_not_empty;` in \(Self.api)"),
        ])
    }

    /// What is wrong with an answer to `GET /api/config` that is not the service's own.
    private func refusal(_ response: Response) -> Finding {
        let include = "\(lines) in \(server), then `nginx -t` and `systemctl reload nginx`"
        if isBelowPrefix(response) {
            return .fail(
                "the service behind \(site) does not know its prefix",
                fix:
                    "`fastcgi_param APP_BACKEND_PREFIX \(site.prefix);` in `location ^~ \(site.prefix)/api/` of \(server)"
            )
        }
        return switch response.status.code {
        case 200: .fail("\(site)/api/ is answered by something else than the service", fix: include)
        case 300..<400:
            .fail("\(site)/api/ is a redirect\(place(response))", fix: "--url, or the `return` in \(server)")
        case 401:
            .fail(
                "\(site)/api/config asks for a password, which the service does not",
                fix: "`auth_basic off;` in `location ^~ \(site.prefix)/api/`, or before its include, in \(server)")
        case 403 where site.scheme == "http":
            .fail("\(site)/api/ is refused, as it should be in the clear", fix: "--url https://\(site.host)")
        case 403:
            .fail(
                "nginx refuses \(site)/api/",
                fix: "`allow`, `deny` and `limit_except` around the include of snippets/app-backend.conf in \(server)")
        case 404:
            .fail(
                "\(site)/api/ is not known to nginx",
                fix: "\(include). Where that is there, another server { } of this name comes first: `nginx -t` "
                    + "then warns of a `conflicting server name`")
        case 502, 503: unavailable(response)
        case 504:
            .fail(
                "nginx got no answer from the service in time",
                fix: "`journalctl -u app-backend`; the line `socket` says whether it answers at all")
        default:
            .fail("\(site)/api/config is answered with \(response.status.code)", fix: "nginx's error_log")
        }
    }

    private func unavailable(_ response: Response) -> Finding {
        // nginx's own page has no code, unless it is the one of app-backend-refusals.conf.
        let code = Problem(response).codeText
        guard code == nil || code == ProblemCode.serviceUnavailable.rawValue else {
            return .fail("the service answers \(response.status.code)", fix: "`journalctl -u app-backend`")
        }
        return .fail(
            "nginx does not reach the service's socket",
            fix:
                "`server unix:PATH;` in \(Self.upstream) must name the socket of the next line; nginx's error_log says "
                + "2: another path; 13: `namei -l PATH` shows which folder or socket keeps nginx's user out "
                + "(SocketGroup=www-data and SocketMode=0660 in app-backend.socket); 111: nothing listens")
    }

    /// What leads to the service, as an operator writes it.
    private var lines: String {
        guard !site.prefix.text.isEmpty else { return "`include snippets/app-backend.conf;`" }
        return "`location ^~ \(site.prefix)/api/ { fastcgi_param APP_BACKEND_PREFIX \(site.prefix); "
            + "include snippets/app-backend-api.conf; }`"
    }

    /// Whether the service has answered, and took the prefix for a part of the path.
    private func isBelowPrefix(_ response: Response) -> Bool {
        !site.prefix.text.isEmpty && [401, 404].contains(response.status.code)
            && response.fields[.contentType] == Problem.contentType
    }

    private func isHealth(_ response: Response) -> Bool {
        response.status == .ok && (try? JSONValue(parsing: response.body))?["workers"] != nil
    }

    /// Without what follows a question mark, which may be a secret.
    private func place(_ response: Response) -> String {
        response.fields[.location].map { " to \($0.prefix { $0 != "?" }.prefix(200))" } ?? ""
    }
}
