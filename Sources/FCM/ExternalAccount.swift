// SPDX-License-Identifier: Apache-2.0
internal import HTTPTypes
internal import JSON
internal import Push
internal import Text

/// Workload identity federation: a token of another issuer, which Google exchanges for one of its own.
struct ExternalAccount: Sendable {
    enum Source: Sendable {
        case file(path: String)
        case url(ServiceURL, HTTPFields)
    }

    enum Format: Sendable {
        case text
        /// The token is a member of a JSON object.
        case json(member: String)
    }

    /// Seconds that a token of an impersonated account is to be good: what Google allows without more ado.
    static let defaultLifetime = 3600

    let audience: String
    let subjectTokenType: String
    let tokenURL: ServiceURL
    let source: Source
    let format: Format
    /// Where the federated token is exchanged for one of a service account; nil: it is used itself.
    let impersonationURL: ServiceURL?
    let impersonationLifetime: Int

    init(_ file: CredentialFile) throws(GoogleCredentialError) {
        for name in ["client_id", "client_secret", "workforce_pool_user_project"] where file.has(name) {
            throw file.fault(name, "is for people's log-ins, which this program does not support")
        }
        audience = try file.text("audience")
        subjectTokenType = try file.text("subject_token_type")
        tokenURL = try file.googleURL("token_url")
        impersonationURL =
            file.has("service_account_impersonation_url")
            ? try file.googleURL("service_account_impersonation_url") : nil
        let impersonation = try file.object("service_account_impersonation")
        impersonationLifetime =
            try impersonation?.optionalSeconds("token_lifetime_seconds", 600...43_200) ?? Self.defaultLifetime
        guard let source = try file.object("credential_source") else {
            throw file.fault("credential_source", "is missing")
        }
        self.source = try Self.source(source)
        format = try Self.format(source)
    }

    /// That of the service account which is taken on: `name@project.iam.gserviceaccount.com`. Nil where there is none.
    var projectID: String? {
        guard let domain = impersonationURL?.path.split(separator: "@").last, let end = domain.firstIndex(of: "."),
            domain[end...].hasPrefix(".iam.gserviceaccount.com:")
        else { return nil }
        return String(domain[..<end])
    }

    /// The host that gives the subject token. The operator named it, so it may be one of this network.
    var localAuthorities: Set<String> {
        guard case .url(let url, _) = source else { return [] }
        return ["\(url.authority.host):\(url.authority.port ?? (url.scheme == "http" ? 80 : 443))"]
    }

    var usesPlainHTTP: Bool {
        if case .url(let url, _) = source { url.scheme == "http" } else { false }
    }

    private static func source(_ file: CredentialFile) throws(GoogleCredentialError) -> Source {
        for name in ["executable", "environment_id", "certificate"] where file.has(name) {
            throw file.fault(name, "is not supported; the subject token must come from a file or a URL")
        }
        if let path = try file.optionalText("file") { return .file(path: path) }
        guard let url = ServiceURL(try file.text("url")), url.scheme == "https" || isLocal(url) else {
            throw file.fault("url", "must be an https address, or an http address of this host or its metadata server")
        }
        var fields: HTTPFields = [:]
        for (name, value) in try file.object("headers")?.texts() ?? [] {
            guard let name = HTTPField.Name(name), HTTPField.isValidValue(value) else {
                throw file.fault("headers", "has a header that HTTP does not allow")
            }
            fields[name] = value
        }
        return .url(url, fields)
    }

    /// Metadata servers have link-local addresses, and no certificate.
    private static func isLocal(_ url: ServiceURL) -> Bool {
        url.authority.isLoopback || url.authority.host.hasPrefix("169.254.")
            || url.authority.host == MetadataServerTokens.host
    }

    private static func format(_ file: CredentialFile) throws(GoogleCredentialError) -> Format {
        guard let format = try file.object("format") else { return .text }
        switch try format.optionalText("type") ?? "text" {
        case "text": return .text
        case "json": return .json(member: try format.text("subject_token_field_name"))
        default: throw format.fault("type", "must be text or json")
        }
    }

    /// The subject token in what the source gave; nil when there is none.
    func subjectToken(in content: [UInt8]) -> String? {
        let text: String?
        switch format {
        case .text: text = String(validating: content, as: UTF8.self)
        case .json(let member): text = (try? JSONValue(parsing: content))?[member]?.string
        }
        // A file that a person has written ends with a line feed.
        let words = text?.split(whereSeparator: \.isWhitespace) ?? []
        return words.count == 1 ? String(words[0]) : nil
    }
}
