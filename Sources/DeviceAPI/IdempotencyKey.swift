// SPDX-License-Identifier: Apache-2.0
public import HTTP
import Text

/// A name that its sender gives a request, so that it acts once however often it is made
/// (draft-ietf-httpapi-idempotency-key-header).
///
/// Each new request needs a new key; a request that is made again because no answer came has the key of the first.
public struct IdempotencyKey: Hashable, Sendable {
    /// In characters.
    public static let maximumLength = 255

    /// 1 ... 255 visible ASCII characters.
    public let text: String

    /// Nil for anything else.
    public init?(_ text: String) {
        guard (1...Self.maximumLength).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        self.text = text
    }

    private init(legal text: String) {
        self.text = text
    }

    /// A new one: 128 random bits.
    public static func random() -> IdempotencyKey {
        var random = SystemRandomNumberGenerator()
        let words: [UInt64] = [random.next(), random.next()]
        return IdempotencyKey(legal: words.map { String($0, radix: 16) }.joined(separator: "-"))
    }

    /// The key of one of the requests that one errand takes, each of which needs a key of its own; always the same of the
    /// same key and name.
    /// - Parameter name: letters, digits and hyphens; what else is in it is left out. The end of a key that has no room
    ///   for it is left out, too.
    public func part(_ name: String) -> IdempotencyKey {
        let suffix =
            "-" + String(decoding: name.utf8.filter(ASCII.isURLSafe).prefix(Self.maximumLength / 2), as: UTF8.self)
        return IdempotencyKey(legal: text.prefix(Self.maximumLength - suffix.utf8.count) + suffix)
    }
}

extension IdempotencyKey {
    /// As the field `Idempotency-Key` has it: a string of structured fields (RFC 9651 section 3.3.3), or its characters
    /// without the quotation marks, which is how most clients write it. The two are one key.
    /// - Returns: nil for anything else.
    public init?(field: String) {
        guard field.utf8.first == quote else {
            self.init(field)
            return
        }
        guard field.utf8.count >= 2, field.utf8.last == quote else { return nil }
        var text: [UInt8] = []
        var isEscaped = false
        for byte in field.utf8.dropFirst().dropLast() {
            if !isEscaped, byte == backslash {
                isEscaped = true
                continue
            }
            // Nothing but these two is escaped, and a quotation mark always is.
            guard isEscaped == (byte == quote || byte == backslash) else { return nil }
            text.append(byte)
            isEscaped = false
        }
        guard !isEscaped else { return nil }
        self.init(String(decoding: text, as: UTF8.self))
    }

    /// As the field has it.
    public var field: String {
        let escaped = text.utf8.flatMap { $0 == quote || $0 == backslash ? [backslash, $0] : [$0] }
        return "\"\(String(decoding: escaped, as: UTF8.self))\""
    }
}

private let quote = UInt8(ascii: "\"")
private let backslash = UInt8(ascii: "\\")

/// The header fields about keys.
extension ExtensionField {
    /// In a request: its key.
    public static let idempotencyKey = ExtensionField("Idempotency-Key")
    /// In an answer, `true`: it was given before, to the first request of that key, and will not change.
    public static let idempotencyReplayed = ExtensionField("Idempotency-Replayed")
}
