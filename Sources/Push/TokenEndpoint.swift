// SPDX-License-Identifier: Apache-2.0
package import HTTP
internal import HTTPTypes
package import JSON
package import Text

/// A token endpoint of OAuth 2.0 (RFC 6749 section 3.2): how it is asked, and what its answers mean.
package struct TokenEndpoint: Sendable {
    package let url: ServiceURL
    /// What is taken out of the endpoint's own sentences before they are shown to the operator.
    private let secrets: [Secret]

    package init(_ url: ServiceURL, secrets: [Secret] = []) {
        (self.url, self.secrets) = (url, secrets)
    }

    /// A `POST` of these parameters as a form.
    package func request(_ parameters: KeyValuePairs<String, String>) -> Request {
        let form = parameters.map { "\($0.key)=\(PercentEncoding.encode($0.value))" }.joined(separator: "&")
        return url.request(
            .post, fields: [.contentType: "application/x-www-form-urlencoded", .accept: "application/json"],
            body: Array(form.utf8))
    }

    /// The token in an answer, or why there is none.
    package func token(in result: Result<Response, any Error>) -> Result<AccessToken, CredentialError> {
        document(in: result).flatMap { json in
            guard let text = json["access_token"]?.string, let lifetime = json["expires_in"].flatMap(Self.seconds),
                let token = AccessToken(text, lifetime: lifetime)
            else { return .failure(.refused(reason: "the token service's answer has no access token in it")) }
            return .success(token)
        }
    }

    /// The JSON of a successful answer, or why there is none: what may pass is `unanswered`, and anything else `refused`.
    package func document(in result: Result<Response, any Error>) -> Result<JSONValue, CredentialError> {
        switch result {
        case .failure(let error):
            let failure = error as? any TransportFailure
            return .failure(CredentialError(failure, of: "the token service"))
        case .success(let response):
            let json = try? JSONValue(parsing: response.body)
            guard response.status.code == 200 else { return .failure(refusal(response.status.code, json)) }
            guard let json else {
                return .failure(.refused(reason: "the token service's answer is not JSON"))
            }
            return .success(json)
        }
    }

    private func refusal(_ status: Int, _ json: JSONValue?) -> CredentialError {
        // RFC 6749 section 5.2; Google's APIs have an object there, with the sentence in `message`.
        let error = json?["error"]
        let code = error?.string ?? error?["status"]?.string
        if status == 408 || status == 429 || status >= 500 || code == "temporarily_unavailable"
            || code == "server_error"
        {
            return .unanswered(reason: "the token service is out of order (HTTP \(status))")
        }
        let sentence = json?["error_description"]?.string ?? error?["message"]?.string
        let words = [code, sentence].compactMap { $0.flatMap { ServiceSentence($0, without: secrets)?.text } }
        let answer = words.isEmpty ? "HTTP \(status)" : words.joined(separator: ": ")
        return .refused(reason: "the token service refuses the credential: \(answer)")
    }

    /// Microsoft's newer documents have a text where RFC 6749 has a number.
    private static func seconds(_ value: JSONValue) -> Int? {
        value.integer ?? value.string.flatMap { Int($0) }
    }
}
