// SPDX-License-Identifier: Apache-2.0
package import Text

/// What the bearer of an app token shows: `abt_`, its id, and 256 random bits. It prints as `***`, and the store gets
/// nothing of it but the id and a hash.
///
/// The prefix is for people, and for programs that look for secrets in what is about to be published.
package struct AppTokenText: Sendable {
    package static let prefix = "abt_"
    /// Bytes of the id: enough that no two tokens of a store have the same.
    private static let idBytes = 8
    private static let secretBytes = 32
    private static let idLength = idBytes * 2
    private static let secretLength = (secretBytes * 4 + 2) / 3
    private static let length = prefix.utf8.count + idLength + 1 + secretLength

    /// In hexadecimal digits; not secret.
    package let id: String
    package let text: Secret

    /// Nil for anything but the one canonical text of such a form.
    package init?(_ text: String) {
        // Looked at before it is decoded: it comes from outside and may be long.
        guard text.utf8.count == Self.length, text.utf8.starts(with: Self.prefix.utf8) else { return nil }
        let rest = text.utf8.dropFirst(Self.prefix.utf8.count)
        let (id, secret) = (rest.prefix(Self.idLength), rest.dropFirst(Self.idLength))
        guard id.allSatisfy({ ASCII.lowerHexDigits.contains($0) }), secret.first == UInt8(ascii: "_"),
            Base64.url.decode(Substring(secret.dropFirst())) != nil
        else { return nil }
        self.id = String(Substring(id))
        self.text = Secret(text)
    }

    /// A new one, from the system's random numbers.
    package static func random() -> AppTokenText {
        let id = ASCII.lowerHex(RandomBytes.make(idBytes))
        let secret = Base64.url.encode(RandomBytes.make(secretBytes))
        return AppTokenText(id: String(decoding: id, as: UTF8.self), secret: secret)
    }

    private init(id: String, secret: String) {
        self.id = id
        text = Secret("\(Self.prefix)\(id)_\(secret)")
    }

    /// What the store keeps. Plain SHA-256, without a salt and without the cost of a password's hash, is right here: no
    /// attacker can try out 2^256 texts, however fast.
    package var hash: Secret { text.digest }
}
