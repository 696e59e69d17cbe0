// SPDX-License-Identifier: Apache-2.0
package import HTTP
import HTTPTypes
import JSON
import Text

/// Where the keys of an issuer come from.
package protocol KeySource: Sendable {
    /// Gets them once. It keeps nothing and repeats nothing.
    /// - Parameter completion: called exactly once, within a deadline, possibly before this call returns.
    func fetch(_ completion: @escaping @Sendable (Result<KeyDocument, KeyError>) -> Void)
}

/// A document of keys, and for how long its server says that it may be kept.
package struct KeyDocument: Sendable {
    let keys: KeySet
    /// In seconds; nil: it does not say.
    let maximumAge: Int?

    /// How many keys there are that tokens can be verified by.
    package var count: Int { keys.keys.count }
}

/// Keys in a file of this host.
package struct KeyFile: KeySource {
    /// A longer document is refused, in bytes, wherever it comes from.
    package static let maximumBytes = KeySet.maximumBytes

    private let read: @Sendable () -> [UInt8]?

    /// - Parameter content: the file's; nil when it cannot be read.
    /// - Throws: why it cannot be used.
    package static func check(_ content: [UInt8]?) throws(KeyError) {
        guard let content else { throw .unreadableFile }
        _ = try KeySet(content)
    }

    /// - Parameter read: the file's content; nil when it cannot be read.
    package init(read: @escaping @Sendable () -> [UInt8]?) {
        self.read = read
    }

    package func fetch(_ completion: @escaping @Sendable (Result<KeyDocument, KeyError>) -> Void) {
        guard let bytes = read() else { return completion(.failure(.unreadableFile)) }
        // A file is as quick to read as it is small, so it is looked at as often as anything may be.
        completion(Result { () throws(KeyError) in KeyDocument(keys: try KeySet(bytes), maximumAge: 0) })
    }
}

/// Keys at an address.
package struct KeyAddress: KeySource {
    private let request: Request
    private let sender: any RequestSender

    /// - Parameter sender: ends each request within a deadline of its own.
    package init(_ request: Request, sender: any RequestSender) {
        (self.request, self.sender) = (request, sender)
    }

    package func fetch(_ completion: @escaping @Sendable (Result<KeyDocument, KeyError>) -> Void) {
        sender.send(request) { result in
            completion(
                KeyDocument.successful(result).flatMap { response in
                    Result { () throws(KeyError) in
                        KeyDocument(
                            keys: try KeySet(response.body), maximumAge: KeyDocument.maximumAge(response.fields))
                    }
                })
        }
    }
}

/// Keys at the address that the issuer's own document names (OpenID Connect Discovery 1.0 section 4).
package struct DiscoveredKeys: KeySource {
    private let issuer: String
    private let sender: any RequestSender
    private let request: @Sendable (String) -> Request?

    /// - Parameters:
    ///   - request: makes a `GET` of an address; nil for one that may not be called.
    ///   - sender: ends each request within a deadline of its own.
    package init(
        issuer: String, sender: any RequestSender, request: @escaping @Sendable (_ address: String) -> Request?
    ) {
        (self.issuer, self.sender, self.request) = (issuer, sender, request)
    }

    /// Where an issuer's document is: the slash at the issuer's end does not count.
    package static func address(of issuer: String) -> String {
        (issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer) + "/.well-known/openid-configuration"
    }

    package func fetch(_ completion: @escaping @Sendable (Result<KeyDocument, KeyError>) -> Void) {
        guard let first = request(Self.address(of: issuer)) else { return completion(.failure(.badKeyAddress)) }
        sender.send(first) { [self] result in
            switch KeyDocument.successful(result).flatMap(keysRequest) {
            case .success(let request): KeyAddress(request, sender: sender).fetch(completion)
            case .failure(let error): completion(.failure(error))
            }
        }
    }

    private func keysRequest(_ response: Response) -> Result<Request, KeyError> {
        guard response.body.count <= KeySet.maximumBytes else { return .failure(.tooLarge) }
        guard let document = try? JSONValue(parsing: response.body), let named = document["issuer"]?.string,
            let address = document["jwks_uri"]?.string
        else { return .failure(.notADiscoveryDocument) }
        // Section 4.3: or one issuer could speak for another.
        guard named.utf8.elementsEqual(issuer.utf8) else { return .failure(.foreignIssuer) }
        guard let request = request(address) else { return .failure(.badKeyAddress) }
        return .success(request)
    }
}

extension KeyDocument {
    fileprivate static func successful(_ result: Result<Response, any Error>) -> Result<Response, KeyError> {
        switch result {
        case .failure(let error): .failure(.unanswered(kind: (error as? any TransportFailure)?.kind ?? "failed"))
        case .success(let response) where response.status.code != 200: .failure(.status(response.status.code))
        case .success(let response): .success(response)
        }
    }

    /// `max-age` of `Cache-Control` (RFC 9111 section 5.2.2.1); 0 where nothing may be kept.
    static func maximumAge(_ fields: HTTPFields) -> Int? {
        guard let text = fields[.cacheControl]?.lowercased() else { return nil }
        let directives = text.split(separator: ",").map { $0.drop { $0 == " " } }
        if directives.contains(where: { $0.hasPrefix("no-store") || $0.hasPrefix("no-cache") }) { return 0 }
        guard let age = directives.first(where: { $0.hasPrefix("max-age=") })?.dropFirst(8),
            !age.isEmpty, age.utf8.allSatisfy(ASCII.isDigit)
        else { return nil }
        // More digits than an integer holds are a long time, too.
        return Int(age) ?? .max
    }
}
