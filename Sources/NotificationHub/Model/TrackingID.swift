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
        var text: [UInt8] = []
        for index in 0..<32 {
            if index == 8 || index == 12 || index == 16 || index == 20 { text.append(UInt8(ascii: "-")) }
            let word = index < 16 ? high : low
            text.append(ASCII.lowerHexDigits[Int(word >> UInt64(60 - index % 16 * 4) & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}
