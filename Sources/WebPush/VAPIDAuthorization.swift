// SPDX-License-Identifier: Apache-2.0
internal import JSON
internal import NotificationHub
import System
internal import Text

/// Says to push services who sends (RFC 8292): a signed token for each, kept until it grows old.
///
/// Copies of a driver share one, and any thread may ask.
final class VAPIDAuthorization: Sendable {
    /// How long a token is good, in seconds. The RFC allows a day; half of it forgives a clock that is wrong.
    static let lifetime: Int64 = 43_200
    /// A token with less time left is not sent any more, in seconds: clocks differ, and messages wait in queues.
    static let renewal: Int64 = 3600
    /// Tokens that are kept, one per push service's host. The vendors have a few dozen.
    static let capacity = 256

    private struct Token {
        let field: String
        let expiry: Int64
    }

    /// What a page subscribes with.
    let publicKey: String
    private let key: VAPIDKey
    private let subject: VAPIDSubject
    private let now: @Sendable () -> Int64
    private let tokens = Lock<[String: Token]>([:])

    /// - Parameter now: seconds since 1970.
    init(key: VAPIDKey, subject: VAPIDSubject, now: @escaping @Sendable () -> Int64) {
        self.key = key
        self.subject = subject
        self.now = now
        publicKey = key.publicKey
    }

    /// When the first of the tokens that are kept ends, in seconds since 1970; nil when there is none.
    var earliestExpiry: Int64? { tokens.withLock { $0.values.map(\.expiry).min() } }

    /// The value of `Authorization` for one push service.
    /// - Parameter origin: scheme, host and port where it is not 443: `https://fcm.googleapis.com`.
    /// - Throws: what swift-crypto throws, for want of randomness or memory.
    func field(for origin: String) throws -> Secret {
        let now = now()
        let (end, overflow) = now.addingReportingOverflow(Self.lifetime)
        let expiry = overflow ? .max : end
        return try tokens.withLock { tokens in
            // A clock that was set back makes a new one, too: the old one would be good for longer than a day.
            if let token = tokens[origin], token.expiry - Self.renewal > now, token.expiry <= expiry {
                return Secret(token.field)
            }
            let token = Token(field: try sign(audience: origin, expiry: expiry), expiry: expiry)
            if tokens.count >= Self.capacity, tokens[origin] == nil,
                let oldest = tokens.min(by: { $0.value.expiry < $1.value.expiry })
            {
                tokens[oldest.key] = nil
            }
            tokens[origin] = token
            return Secret(token.field)
        }
    }

    /// `vapid t=<token>,k=<public key>`. Without the blank that the RFC's examples have after the comma: some verifiers
    /// take it for the end of the token (py_vapid splits at the last blank), and none needs it.
    private func sign(audience: String, expiry: Int64) throws -> String {
        let token = Self.header + "." + claims(audience: audience, expiry: expiry)
        return "vapid t=\(token).\(Base64.url.encode(try key.signature(of: token))),k=\(publicKey)"
    }

    private static let header = Base64.url.encode(#"{"typ":"JWT","alg":"ES256"}"#.utf8)

    private func claims(audience: String, expiry: Int64) -> String {
        let json = JSONWriter.object {
            $0.member("aud", audience)
            $0.member("exp", expiry)
            $0.member("sub", subject.description)
        }
        return Base64.url.encode(json.bytes)
    }
}
