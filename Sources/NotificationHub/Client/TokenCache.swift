// SPDX-License-Identifier: Apache-2.0
import System
internal import Text

/// Makes the client's access token and keeps it until it grows old. Copies of a client share one.
final class TokenCache: Sendable {
    /// How long a token opens the hub, in seconds; what Microsoft's clients ask for.
    static let lifetime: Int64 = 3600
    /// A token with less time left is not sent any more, in seconds: clocks differ, and requests wait.
    static let renewal: Int64 = 600

    private struct Token {
        let text: String
        let expiry: Int64
    }

    private let resource: String
    private let key: SharedAccessKey
    private let token = Lock<Token?>(nil)

    init(resource: String, key: SharedAccessKey) {
        self.resource = resource
        self.key = key
    }

    /// Until when the last token is good, in seconds since 1970; nil when there was none yet.
    var expiry: Int64? { token.withLock { $0?.expiry } }

    /// A token that is good at that time, in seconds since 1970. A clock that was set back makes a new one too.
    func token(at now: Int64) -> Secret {
        let (expiry, overflow) = now.addingReportingOverflow(Self.lifetime)
        return token.withLock { token in
            if let token, token.expiry > now &+ Self.renewal, token.expiry <= expiry { return Secret(token.text) }
            let end = overflow ? .max : expiry
            let fresh = Token(
                text: SharedAccessSignature.make(resource: resource, key: key, expiry: end), expiry: end)
            token = fresh
            return Secret(fresh.text)
        }
    }
}
