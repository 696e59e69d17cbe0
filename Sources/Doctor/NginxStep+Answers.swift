// SPDX-License-Identifier: Apache-2.0
internal import AppBackend
internal import Curl
internal import DeviceAPI
internal import HTTP
internal import HTTPTypes
internal import JSON

extension NginxStep {
    /// A session's cookie that none ever was: long enough to be passed on, and nobody's token.
    private static let cookie = "__Host-app_backend=doctor"
    /// Credentials that cannot be read: refused before a password is thought of.
    private static let credentials = "Basic -"
    /// No key, for it has no second quotation mark: where the field arrives it is refused, and nothing is done.
    private static let key = "\"doctor"
    /// As the snippet words it when nginx cannot reach the socket.
    private static let unreachable = "The service is not available just now."

    /// What is wrong with the answer to `GET /api/config`; nil for the service's own.
    func refusal(_ response: Response) -> Finding? {
        let include = "\(lines) in \(server), then `nginx -t` and `systemctl reload nginx`"
        if isBelowPrefix(response) {
            return .wrong(
                "the service behind \(site) does not know its prefix",
                cure:
                    "`fastcgi_param APP_BACKEND_PREFIX \(site.prefix);` in `location ^~ \(site.prefix)/api/` of \(server)"
            )
        }
        switch response.status.code {
        case 200 where isOurs(response): return nil
        case 200: return .wrong("\(site)/api/ is answered by something else than the service", cure: include)
        case 300..<400:
            return .wrong("\(site)/api/ is a redirect\(place(response))", cure: "--url, or the `return` in \(server)")
        case 401:
            return .wrong(
                "\(site)/api/config asks for a password, which the service does not",
                cure:
                    "`auth_basic off;` in `location ^~ \(site.prefix)/api/`, or before its include, in \(server)"
            )
        case 403 where site.scheme == "http":
            return .wrong("\(site)/api/ is refused, as it should be in the clear", cure: "--url https://\(site.host)")
        case 403:
            return .wrong(
                "nginx refuses \(site)/api/",
                cure: "`allow`, `deny` and `limit_except` around the include of "
                    + "snippets/app-backend.conf in \(server)")
        case 404: return .wrong("\(site)/api/ is not known to nginx", cure: include)
        case 502, 503: return unavailable(response)
        case 504:
            return .wrong(
                "nginx waited for the service in vain",
                cure: "`journalctl -u app-backend`; the line `socket` says whether it answers at all")
        default:
            return .wrong("\(site)/api/config is answered with \(response.status.code)", cure: "nginx's error_log")
        }
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

    private func unavailable(_ response: Response) -> Finding {
        let detail = detail(response)
        guard detail == nil || detail == Self.unreachable else {
            return .wrong("the service answers \(response.status.code)", cure: "`journalctl -u app-backend`")
        }
        return .wrong(
            "nginx does not reach the service's socket",
            cure:
                "`server unix:PATH;` in \(files.upstream) must name the socket of the next line; nginx's error_log says "
                + "2: another path, 13: not nginx's group, 111: nobody listens")
    }

    /// Whether `Authorization` arrives. The service's challenge to a cookie without credentials is another one than that
    /// to wrong credentials, whether a cookie is there or not.
    func judgeChallenges() throws -> [Finding] {
        let withCookie = try ask(Path.register, [.cookie: Self.cookie])
        guard withCookie.status == .unauthorized, let challenge = withCookie.fields[.wwwAuthenticate] else {
            return [
                .wrong(
                    "\(site)\(Path.register) is answered with \(withCookie.status.code), not with the service's "
                        + "challenge",
                    cure:
                        "`location ^~ \(site.prefix)/api/` in \(server), which snippets/app-backend.conf has, must take all of "
                        + "\(site.prefix)/api/; no auth_basic before it")
            ]
        }
        var findings: [Finding] = []
        if let realm, !challenge.contains("\"\(realm)\"") {
            findings.append(
                .warning(
                    "the service behind \(site) has another realm than the configuration: \(challenge.prefix(100))",
                    cure: "`systemctl restart app-backend`, when auth.realm was changed; else another service answers"))
        }
        guard detail(withCookie) == Challenge.endedSession else {
            return findings + [
                .warning(
                    "cookies do not reach the service, so the page's log-in ends at once; whether Authorization does "
                        + "cannot be told then",
                    cure: "`fastcgi_param HTTP_COOKIE $app_backend_cookie if_not_empty;` in \(files.api)")
            ]
        }
        let both = try ask(Path.register, [.cookie: Self.cookie, .authorization: Self.credentials])
        guard detail(both) == Challenge.wrongCredentials else {
            return findings + [
                .wrong(
                    "nginx does not pass Authorization on, so nobody can log in",
                    cure: "`fastcgi_param HTTP_AUTHORIZATION $http_authorization if_not_empty;` in \(files.api)")
            ]
        }
        return findings
    }

    /// Whether `Idempotency-Key` arrives, which no answer to an app tells: a send that is made again is then two.
    func judgeKeys() throws -> [Finding] {
        var fields = HTTPFields()
        fields[.key] = Self.key
        guard try ask(Path.config, fields).status != .badRequest else { return [] }
        return [
            .warning(
                "nginx does not pass Idempotency-Key on, so what an app sends again is sent twice",
                cure: "`fastcgi_param HTTP_IDEMPOTENCY_KEY $http_idempotency_key if_not_empty;` in \(files.api)")
        ]
    }

    /// Only where the site looks at us as at a stranger.
    func judgeHealth(_ connection: ConnectionProbe.Connection) throws -> [Finding] {
        let address = connection.localAddress
        guard address != "::1", !address.hasPrefix("127.") else { return [] }
        // At a name that is shared, what answers may be another site's.
        let health = try ask(Path.health, isBelowPrefix: false)
        guard health.status == .ok, (try? JSONValue(parsing: health.body))?["workers"] != nil else { return [] }
        return [
            .warning(
                "\(site.origin)/health is open to \(address), and so perhaps to everybody",
                cure: "`allow 127.0.0.1; allow ::1; deny all;` in `location = /health` of \(files.monitor)")
        ]
    }

    private func isOurs(_ response: Response) -> Bool {
        RunningConfiguration(response) != nil
    }

    private func detail(_ response: Response) -> String? {
        (try? JSONValue(parsing: response.body))?["detail"]?.string
    }

    /// Without what stands behind a question mark: that may be somebody's secret.
    private func place(_ response: Response) -> String {
        response.fields[.location].map { " to \($0.prefix { $0 != "?" }.prefix(200))" } ?? ""
    }
}
