// SPDX-License-Identifier: Apache-2.0
import Crypto
import Text

extension Secret {
    /// SHA-256 of the text, in hexadecimal digits. Only for texts that are random enough that none can be guessed.
    var digest: Secret {
        let digest = SHA256.hash(data: Array(reveal().utf8))
        return Secret(String(decoding: ASCII.lowerHex(digest), as: UTF8.self))
    }
}

/// Bytes from the system's random numbers.
enum RandomBytes {
    static func make(_ count: Int) -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        return (0..<count).map { _ in random.next() }
    }
}
