// SPDX-License-Identifier: Apache-2.0
internal import HTTP
internal import HTTPTypes
internal import NotificationHub
internal import Push

/// Takes tokens from the metadata server of a machine at Google, which knows the machine's service account.
struct MetadataServerTokens: TokenSource {
    /// A link-local address, which only the machine itself reaches; by plain HTTP.
    static let host = "metadata.google.internal"

    private static let address = "http://\(host)/computeMetadata/v1/instance/service-accounts/default/token"

    func fetch(
        by sender: any RequestSender, _ completion: @escaping @Sendable (Result<AccessToken, CredentialError>) -> Void
    ) {
        guard let url = ServiceURL(Self.address) else { return completion(.failure(.unavailable)) }
        let endpoint = TokenEndpoint(url)
        // Without this field the server does not answer: a request that was forged through a web page has none.
        var fields: HTTPFields = [:]
        fields[named: "Metadata-Flavor"] = "Google"
        sender.send(url.request(.get, fields: fields)) { completion(endpoint.token(in: $0)) }
    }
}
