// SPDX-License-Identifier: Apache-2.0
import Curl
import DeviceAPI
import HTTP
import HTTPTypes
import Text

/// Asks the site what shows whether the web server passes calls of the API on to the service, and all of each.
///
/// It asks as a stranger would: nothing it asks logs a user in, counts as a failed log-in or changes anything.
struct NginxStep: Sendable {
    /// A cookie of no session: long enough to be passed on.
    private static let cookie = "__Host-app_backend=doctor"
    /// Credentials that cannot be read: refused before a password is looked at.
    private static let credentials = "Basic -"
    /// Not a key, for it has no second quotation mark: where the field arrives the request is refused, and nothing is done.
    private static let key = "\"doctor"

    /// Not percent-encoded: where the field arrives the request is refused, and nothing is done.
    private static let user = "%"
    private static let userField = HTTPField.Name("App-Backend-User")
    /// No app token has a quotation mark: likewise. Where keys count, a wrong one would be counted.
    private static let apiKey = "\"doctor"
    private static let apiKeyField = HTTPField.Name("apikey")

    /// The site's answers.
    struct Answers: Sendable {
        /// To `GET /api/config`.
        var config: Response
        /// To `GET /api/register` with a cookie, and with cookie and credentials; nil: not asked, for the site does not
        /// lead to the service.
        var withCookie: Response?
        var withCredentials: Response?
        /// To `GET /api/config` with a malformed key.
        var withKey: Response?
        /// To `GET /api/config` with a malformed name of a user.
        var withUser: Response?
        /// To `GET /api/config` with a malformed key of an app of the tutorial for .NET MAUI.
        var withAPIKey: Response?
        /// To `GET /health`; nil also where the site sees this host as itself.
        var health: Response?
    }

    let site: SiteAddress
    let transport: any Responder

    /// - Throws: what the transport throws.
    func ask(_ connection: ConnectionProbe.Connection) throws -> Answers {
        var answers = Answers(config: try get(Path.config))
        guard RunningConfiguration(answers.config) != nil else { return answers }
        answers.withCookie = try get(Path.register, [.cookie: Self.cookie])
        answers.withCredentials = try get(Path.register, [.cookie: Self.cookie, .authorization: Self.credentials])
        var fields = HTTPFields()
        fields[.idempotencyKey] = Self.key
        answers.withKey = try get(Path.config, fields)
        if let name = Self.userField { answers.withUser = try get(Path.config, [name: Self.user]) }
        if let name = Self.apiKeyField { answers.withAPIKey = try get(Path.config, [name: Self.apiKey]) }
        if !Loopback.contains(connection.localAddress) {
            // At a name that is shared, what answers may be another site's.
            answers.health = try get(Path.health, isBelowPrefix: false)
        }
        return answers
    }

    private func get(_ path: String, _ fields: HTTPFields = [:], isBelowPrefix: Bool = true) throws -> Response {
        let path = (isBelowPrefix ? site.prefix.text : "") + path
        return try transport.respond(
            to: Request(method: .get, scheme: site.scheme, authority: site.authority, path: path, fields: fields))
    }
}
