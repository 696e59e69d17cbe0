// SPDX-License-Identifier: Apache-2.0

/// The few questions about ASCII bytes that HTTP asks.
public enum ASCII {
    /// `0` ... `9`, `a` ... `f`.
    public static let lowerHexDigits = [UInt8]("0123456789abcdef".utf8)
    /// Two hexadecimal digits for each byte.
    public static func lowerHex(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        bytes.flatMap { [lowerHexDigits[Int($0 >> 4)], lowerHexDigits[Int($0 & 15)]] }
    }

    /// `0` ... `9`, `A` ... `F`.
    public static let upperHexDigits = [UInt8]("0123456789ABCDEF".utf8)

    /// The byte, `A` ... `Z` made lower case.
    @inlinable public static func lowercased(_ byte: UInt8) -> UInt8 {
        byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
    }

    /// Whether the byte is a digit, `0` ... `9`.
    @inlinable public static func isDigit(_ byte: UInt8) -> Bool {
        byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
    }

    /// Whether the byte is a letter.
    @inlinable public static func isLetter(_ byte: UInt8) -> Bool {
        let byte = lowercased(byte)
        return byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z")
    }

    /// Whether the byte is a letter or a digit.
    @inlinable public static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: false
        }
    }

    /// Whether the byte is a letter, a digit, `-` or `_`: the alphabet of base64url (RFC 4648 section 5), which means
    /// nothing else anywhere in a URL.
    @inlinable public static func isURLSafe(_ byte: UInt8) -> Bool {
        isAlphanumeric(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }

    /// Whether the byte is a space, a tab, a line feed or a carriage return: what XML and JSON call white space.
    package static func isBlank(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
    }

    /// The value of a hexadecimal digit of either case; nil for any other byte.
    @inlinable public static func hexValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// Whether two texts are the same but for the case of ASCII letters.
    public static func equalIgnoringCase(_ one: String, _ other: String) -> Bool {
        one.utf8.count == other.utf8.count
            && zip(one.utf8, other.utf8).allSatisfy { lowercased($0) == lowercased($1) }
    }
}
