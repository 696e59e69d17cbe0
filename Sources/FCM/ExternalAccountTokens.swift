// SPDX-License-Identifier: Apache-2.0
internal import HTTP
internal import HTTPTypes
internal import JSON
internal import Push
internal import Text

/// Signs in by workload identity federation (RFC 8693): reads the subject token, exchanges it, and where the file says so
/// exchanges the result once more for a token of a service account.
struct ExternalAccountTokens: TokenSource {
    typealias Completion = @Sendable (Result<AccessToken, CredentialError>) -> Void

    /// What the federated token is good for when it is only exchanged once more.
    static let impersonationScope = "https://www.googleapis.com/auth/iam"

    let account: ExternalAccount
    let readFile: @Sendable (_ path: String) -> [UInt8]?
    /// Seconds since 1970.
    let now: @Sendable () -> Int64

    func fetch(by sender: any RequestSender, _ completion: @escaping Completion) {
        switch account.source {
        case .file(let path):
            guard let content = readFile(path) else {
                return completion(.failure(.refused(reason: "the file of the subject token cannot be read")))
            }
            exchange(content, by: sender, completion)
        case .url(let url, let fields):
            sender.send(url.request(.get, fields: fields)) { result in
                switch result {
                case .failure(let error):
                    let failure = error as? any TransportFailure
                    completion(.failure(CredentialError(failure, of: "the source of the subject token")))
                case .success(let response) where response.status.code == 200:
                    exchange(response.body, by: sender, completion)
                case .success(let response):
                    let reason = "the source of the subject token answers HTTP \(response.status.code)"
                    let isOut = response.status.code >= 500
                    completion(.failure(isOut ? .unanswered(reason: reason) : .refused(reason: reason)))
                }
            }
        }
    }

    private func exchange(_ content: [UInt8], by sender: any RequestSender, _ completion: @escaping Completion) {
        guard let subject = account.subjectToken(in: content) else {
            return completion(.failure(.refused(reason: "there is no subject token in what its source gives")))
        }
        let endpoint = TokenEndpoint(account.tokenURL, secrets: [Secret(subject)])
        let request = endpoint.request([
            "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
            "audience": account.audience,
            "scope": account.impersonationURL == nil ? GoogleCredential.scope : Self.impersonationScope,
            "requested_token_type": "urn:ietf:params:oauth:token-type:access_token",
            "subject_token": subject,
            "subject_token_type": account.subjectTokenType,
        ])
        sender.send(request) { result in
            switch (endpoint.token(in: result), account.impersonationURL) {
            case (.success(let token), let url?): impersonate(token, at: url, by: sender, completion)
            case (let result, _): completion(result)
            }
        }
    }

    private func impersonate(
        _ token: AccessToken, at url: ServiceURL, by sender: any RequestSender, _ completion: @escaping Completion
    ) {
        let json = JSONWriter.object {
            $0.member("scope", [GoogleCredential.scope])
            $0.member("lifetime", "\(account.impersonationLifetime)s")
        }
        let fields: HTTPFields = [
            .authorization: "Bearer " + token.text.reveal(), .contentType: "application/json",
        ]
        let endpoint = TokenEndpoint(url, secrets: [token.text])
        sender.send(url.request(.post, fields: fields, body: json.bytes)) { result in
            completion(endpoint.document(in: result).flatMap(impersonated))
        }
    }

    /// Google's own form of a token's answer: a time instead of a number of seconds.
    private func impersonated(_ json: JSONValue) -> Result<AccessToken, CredentialError> {
        let end = json["expireTime"]?.string.flatMap { Timestamp(rfc3339: $0) }
        let lifetime = end?.seconds.subtractingReportingOverflow(now())
        guard let text = json["accessToken"]?.string, let lifetime, !lifetime.overflow,
            let token = AccessToken(text, lifetime: min(Int(lifetime.partialValue), account.impersonationLifetime))
        else { return .failure(.refused(reason: "the token service's answer has no access token in it")) }
        return .success(token)
    }
}
