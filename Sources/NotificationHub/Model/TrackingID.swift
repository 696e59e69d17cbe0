// SPDX-License-Identifier: Apache-2.0
internal import Text

/// Names for requests without one: random UUIDs (RFC 9562 section 5.4), the only form of which the hub's logs are
/// known to find, and the one that APNs wants.
package enum TrackingID {
    /// A new one, 36 characters in lower case.
    package static func random() -> String {
        var generator = SystemRandomNumberGenerator()
        let high: UInt64 = generator.next() & ~0xF000 | 0x4000
        let low: UInt64 = generator.next() & ~(3 << 62) | 2 << 62
        let digits = hexadecimal(high) + hexadecimal(low)
        var text: [UInt8] = []
        for (index, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(index) { text.append(UInt8(ascii: "-")) }
            text.append(digit)
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func hexadecimal(_ number: UInt64) -> [UInt8] {
        stride(from: 60, through: 0, by: -4).map { ASCII.lowerHexDigits[Int(number >> UInt64($0) & 15)] }
    }
}
