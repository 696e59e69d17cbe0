// SPDX-License-Identifier: Apache-2.0

extension String {
    /// Whether it can be one segment of a path, percent-encoded: web servers resolve `.` and `..`, and a slash divides.
    package var isPathSegment: Bool { self != "." && self != ".." && !utf8.contains(UInt8(ascii: "/")) }
}

/// Percent-encoding (RFC 3986 section 2.1).
public enum PercentEncoding {
    /// Decodes `%XX`; nil when a `%` is not followed by two hexadecimal digits or the result is not UTF-8.
    /// - Parameter plusIsSpace: as in form data and queries (`application/x-www-form-urlencoded`).
    public static func decode(_ text: some Collection<UInt8>, plusIsSpace: Bool = false) -> String? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text.makeIterator()
        while let byte = rest.next() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.next().flatMap(ASCII.hexValue), let low = rest.next().flatMap(ASCII.hexValue)
                else { return nil }
                bytes.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsSpace: bytes.append(UInt8(ascii: " "))
            default: bytes.append(byte)
            }
        }
        return String(validUTF8: bytes)
    }

    /// Encodes everything but the unreserved characters (letters, digits, `-._~`).
    /// - Parameter uppercase: whether the hexadecimal digits are upper case, as RFC 3986 section 2.1 recommends.
    public static func encode(_ text: String, uppercase: Bool = true) -> String {
        let digits = uppercase ? ASCII.upperHexDigits : ASCII.lowerHexDigits
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            if ASCII.isAlphanumeric(byte) || "-._~".utf8.contains(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
