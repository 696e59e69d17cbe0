// SPDX-License-Identifier: Apache-2.0
import Crypto
import Text

/// What the bearer of a session shows: 256 random bits. It is as good as the password, so it prints as `***`, and the
/// store gets nothing of it but its hash.
struct SessionToken: Sendable {
    /// Of the token in bytes.
    static let size = 32

    /// The token as a cookie's value: base64url without padding, 43 characters.
    let text: Secret

    /// Nil for anything but the one canonical text of so many bytes.
    init?(_ text: some StringProtocol) {
        // Looked at before it is decoded: it comes from outside and may be long.
        guard text.utf8.count == (Self.size * 4 + 2) / 3, Base64.url.decode(text) != nil else { return nil }
        self.text = Secret(String(text))
    }

    private init(bytes: [UInt8]) {
        text = Secret(Base64.url.encode(bytes))
    }

    /// A new one, from the system's random numbers.
    static func random() -> SessionToken {
        SessionToken(bytes: RandomBytes.make(size))
    }

    /// The name of its session in the store: SHA-256 of the text, in hexadecimal digits. Without a key or a salt,
    /// because there is nothing to guess; and looked up as any name, because timing that reveals a hash at most.
    var id: String { text.digest.reveal() }

    /// Ties a session to the version of its owner's credentials. A MAC under the token itself: what is stored does not
    /// show whether two sessions have the same password, and no matching one can be made from it.
    func binding(_ account: Account) -> Secret {
        let key = SymmetricKey(data: Array(text.reveal().utf8))
        // A name holds no NUL, so no two pairs run together.
        let pair = Array(account.principal.owner.utf8) + [0] + Array(account.credentialVersion.utf8)
        return Secret(Base64.url.encode(HMAC<SHA256>.authenticationCode(for: pair, using: key)))
    }
}
