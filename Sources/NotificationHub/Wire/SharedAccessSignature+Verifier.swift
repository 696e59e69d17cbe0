// SPDX-License-Identifier: Apache-2.0
import Crypto
internal import Text

extension SharedAccessSignature {
    /// Checks tokens at the hub's door.
    ///
    /// Clients write the same resource in many ways: with `http` for `https`, without the port, with the request's
    /// query, in lower case, ending in `/` or not, down to the namespace or down to the message. All are accepted;
    /// what counts is that host and path lead to the request.
    package struct Verifier: Sendable {
        private let keys: [SharedAccessKey]
        private let hosts: [String]

        /// - Parameters:
        ///   - keys: primary and secondary keys; several may have one name.
        ///   - hosts: names by which clients dial this hub, without ports.
        package init(keys: [SharedAccessKey], hosts: [String]) {
            self.keys = keys
            self.hosts = hosts
        }

        /// The key that has signed the token.
        /// - Parameters:
        ///   - header: the `Authorization` field; nil when the request has none.
        ///   - path: the request's path as it was sent.
        ///   - now: seconds since 1970.
        /// - Throws: `SignatureError`; nothing behind the signature is believed before the signature is right.
        package func verify(header: String?, path: String, now: Int64) throws(SignatureError) -> SharedAccessKey {
            let token = try Token(header)
            let named = keys.filter { $0.name == token.keyName }
            guard !named.isEmpty else { throw .unknownKey }
            // Every key of the name is tried, so that time does not tell the primary from the secondary.
            guard let key = named.filter({ token.isSigned(by: $0.key) }).first else { throw .wrongSignature }
            guard token.expiry > now else { throw .expired }
            let audience = try Audience(token.audience)
            guard hosts.contains(where: { ASCII.equalIgnoringCase($0, audience.host) }) else { throw .otherHost }
            guard audience.opens(path) else { throw .otherPath }
            return key
        }
    }
}

/// The parts of a token.
private struct Token {
    /// Raw, as it was signed.
    let audience: String
    let signature: [UInt8]
    /// Raw, as it was signed.
    let expiryText: String
    let expiry: Int64
    let keyName: String

    init(_ header: String?) throws(SignatureError) {
        guard let header, header.utf8.count <= SharedAccessSignature.maximumLength else { throw .missing }
        let words = header.utf8.split(separator: UInt8(ascii: " "), maxSplits: 1)
        guard words.count == 2, ASCII.equalIgnoringCase(String(Substring(words[0])), SharedAccessSignature.scheme)
        else { throw .missing }
        var parts: [String: Substring.UTF8View] = [:]
        for part in words[1].split(separator: UInt8(ascii: "&")) {
            guard let equals = part.firstIndex(of: UInt8(ascii: "=")) else { throw .malformed }
            let value = part[part.index(after: equals)...]
            guard parts.updateValue(value, forKey: String(Substring(part[..<equals]))) == nil else {
                throw .malformed
            }
        }
        guard let audience = parts["sr"], let expiry = parts["se"],
            expiry.allSatisfy(ASCII.isDigit), let seconds = Int64(String(Substring(expiry))),
            let signature = parts["sig"].flatMap({ PercentEncoding.decode($0) }).flatMap({ Base64.standard.decode($0) }
            ),
            let keyName = parts["skn"].flatMap({ PercentEncoding.decode($0) })
        else { throw .malformed }
        self.audience = String(Substring(audience))
        self.signature = signature
        expiryText = String(Substring(expiry))
        self.expiry = seconds
        self.keyName = keyName
    }

    /// Compares in constant time.
    func isSigned(by secret: Secret) -> Bool {
        HMAC<SHA256>.isValidAuthenticationCode(
            signature, authenticating: SharedAccessSignature.message(audience, expiryText),
            using: SharedAccessSignature.symmetric(secret))
    }
}

/// The resource that a token was made for.
private struct Audience {
    let host: String
    let segments: [Substring.UTF8View]

    init(_ encoded: String) throws(SignatureError) {
        guard let uri = PercentEncoding.decode(encoded.utf8) else { throw .malformed }
        let bytes = uri.utf8
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            bytes[colon...].starts(with: "://".utf8),
            ["http", "https", "sb"].contains(where: { ASCII.equalIgnoringCase($0, String(uri[..<colon])) })
        else { throw .malformed }
        let rest = bytes[colon...].dropFirst(3).prefix { $0 != UInt8(ascii: "?") }
        let slash = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
        guard let authority = Authority(Substring(rest[..<slash])) else { throw .malformed }
        host = authority.host
        segments = rest[slash...].split(separator: UInt8(ascii: "/"))
    }

    /// Whether the request's path begins with all segments of this one.
    func opens(_ path: String) -> Bool {
        let asked = path.utf8.split(separator: UInt8(ascii: "/"))
        guard segments.count <= asked.count else { return false }
        return zip(segments, asked).allSatisfy { Self.fold($0) == Self.fold($1) }
    }

    /// Some clients sign the path as it is sent, others as it is meant, so both are compared as meant.
    private static func fold(_ segment: Substring.UTF8View) -> String {
        (PercentEncoding.decode(segment) ?? String(Substring(segment))).lowercased()
    }
}
