// SPDX-License-Identifier: Apache-2.0

/// SipHash-2-4 (Aumasson and Bernstein, 2012): a keyed hash of 64 bits.
///
/// It is the same in every process and version, which Swift's `Hasher` is not, and must not be steerable by those who choose
/// what is hashed, which an unkeyed hash would be.
package struct SipHash: Sendable {
    private let key: (UInt64, UInt64)

    /// - Parameter key: 16 bytes; nil for any other number of them.
    package init?(key: [UInt8]) {
        guard key.count == 16 else { return nil }
        self.key = key.withUnsafeBytes { bytes in
            (
                UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self)),
                UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
    }

    /// One with a key that the system drew at random (getrandom(2)).
    package static func random() -> SipHash {
        var system = SystemRandomNumberGenerator()
        return SipHash(key: (system.next(), system.next()))
    }

    private init(key: (UInt64, UInt64)) {
        self.key = key
    }

    package func hash(_ text: String) -> UInt64 {
        var text = text
        return text.withUTF8 { hash($0) }
    }

    package func hash(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt64 {
        var state = State(key: key)
        var rest = UnsafeRawBufferPointer(bytes)
        while rest.count >= 8 {
            state.absorb(UInt64(littleEndian: rest.loadUnaligned(as: UInt64.self)))
            rest = UnsafeRawBufferPointer(rebasing: rest[8...])
        }
        var last = UInt64(bytes.count & 0xFF) << 56
        for index in 0..<rest.count { last |= UInt64(rest[index]) << UInt64(8 * index) }
        state.absorb(last)
        return state.finish()
    }

    private struct State {
        var v0, v1, v2, v3: UInt64

        init(key: (UInt64, UInt64)) {
            v0 = key.0 ^ 0x736F_6D65_7073_6575
            v1 = key.1 ^ 0x646F_7261_6E64_6F6D
            v2 = key.0 ^ 0x6C79_6765_6E65_7261
            v3 = key.1 ^ 0x7465_6462_7974_6573
        }

        mutating func absorb(_ word: UInt64) {
            v3 ^= word
            round()
            round()
            v0 ^= word
        }

        mutating func finish() -> UInt64 {
            v2 ^= 0xFF
            for _ in 0..<4 { round() }
            return v0 ^ v1 ^ v2 ^ v3
        }

        private mutating func round() {
            v0 &+= v1
            v2 &+= v3
            v1 = Self.rotated(v1, 13) ^ v0
            v3 = Self.rotated(v3, 16) ^ v2
            v0 = Self.rotated(v0, 32)
            v2 &+= v1
            v0 &+= v3
            v1 = Self.rotated(v1, 17) ^ v2
            v3 = Self.rotated(v3, 21) ^ v0
            v2 = Self.rotated(v2, 32)
        }

        private static func rotated(_ word: UInt64, _ bits: UInt64) -> UInt64 { word << bits | word >> (64 - bits) }
    }
}
