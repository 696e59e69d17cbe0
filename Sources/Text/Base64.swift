// SPDX-License-Identifier: Apache-2.0

/// Base 64 (RFC 4648): signatures of the hub use the first alphabet, browser keys the second.
package enum Base64: Sendable {
    /// Section 4: `+` and `/`, padded with `=`.
    case standard
    /// Section 5: `-` and `_`, without padding.
    case url

    private var alphabet: [UInt8] { self == .standard ? standardAlphabet : urlAlphabet }

    package func encode(_ bytes: some Sequence<UInt8>) -> String {
        let alphabet = alphabet
        var text: [UInt8] = []
        text.reserveCapacity(bytes.underestimatedCount * 4 / 3 + 3)
        var bits: UInt32 = 0
        var held = 0
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            held += 8
            while held >= 6 {
                held -= 6
                text.append(alphabet[Int(bits >> UInt32(held) & 63)])
            }
        }
        if held > 0 { text.append(alphabet[Int(bits << UInt32(6 - held) & 63)]) }
        while self == .standard, text.count % 4 != 0 { text.append(UInt8(ascii: "=")) }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes of a text in its one canonical form; nil for any other (a foreign character, wrong padding, bits
    /// that are left over and not zero), so that two texts never mean the same bytes.
    package func decode(_ text: some StringProtocol) -> [UInt8]? {
        text.utf8.withContiguousStorageIfAvailable(decode(utf8:))
            ?? Array(text.utf8).withUnsafeBufferPointer(decode(utf8:))
    }

    /// The bytes of a text in either alphabet, padded or not, as libraries and browsers write keys. Several texts mean the same
    /// bytes, so keep `url.encode` of them.
    package static func decodeEither(_ text: String) -> [UInt8]? {
        var digits = text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: byte
            }
        }
        if digits.last == UInt8(ascii: "="), digits.count.isMultiple(of: 4) {
            digits.removeLast()
            if digits.last == UInt8(ascii: "=") { digits.removeLast() }
        }
        return Base64.url.decode(String(decoding: digits, as: UTF8.self))
    }

    private func decode(utf8 text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        guard let digits = digits(in: text) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits * 3 / 4)
        var bits: UInt32 = 0
        var held = 0
        for character in text.prefix(digits) {
            guard let value = value(of: character) else { return nil }
            bits = bits << 6 | UInt32(value)
            held += 6
            guard held >= 8 else { continue }
            held -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(held)))
        }
        return bits & (1 << UInt32(held) - 1) == 0 ? bytes : nil
    }

    /// How many characters stand before the padding; nil for numbers of them that no encoder makes.
    private func digits(in text: UnsafeBufferPointer<UInt8>) -> Int? {
        var padding = 0
        if self == .standard {
            guard text.count.isMultiple(of: 4) else { return nil }
            padding = text.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
        }
        let digits = text.count - padding
        return digits % 4 == 1 ? nil : digits
    }

    private func value(of character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+") where self == .standard, UInt8(ascii: "-") where self == .url: 62
        case UInt8(ascii: "/") where self == .standard, UInt8(ascii: "_") where self == .url: 63
        default: nil
        }
    }
}

private let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
private let standardAlphabet = [UInt8]((letters + "+/").utf8)
private let urlAlphabet = [UInt8]((letters + "-_").utf8)
