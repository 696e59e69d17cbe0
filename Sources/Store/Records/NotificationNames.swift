// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The two names of a notification, both drawn from the system's random numbers.
package enum NotificationNames {
    /// Neither 0, which is what junk parses to, nor 2^31 - 1, at which the tutorials' clients saturate.
    package static let ids: ClosedRange<Int32> = 1...(.max - 1)
    /// 128 bits in base64url without padding, of which one is not drawn.
    static let tokenLength = 22

    private static let digits = [UInt8]("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// Ends because the quotas leave far more ids free than taken.
    package static func id(using random: inout KernelRandom, where isFree: (Int32) -> Bool = { _ in true }) -> Int32 {
        while true {
            let id = Int32.random(in: ids, using: &random)
            if isFree(id) { return id }
        }
    }

    /// The last character carries two bits only (`A`, `Q`, `g` or `w`), so a token never looks like an id. The first is a letter, so
    /// that no command takes a token for an option.
    package static func token(using random: inout some RandomNumberGenerator) -> String {
        var bits: UInt64 = random.next()
        let more: UInt64 = random.next()
        var token: [UInt8] = []
        token.reserveCapacity(tokenLength)
        for index in 0..<tokenLength {
            // A word of 64 bits is good for ten characters of 6.
            if index == 10 { bits = more }
            if index == 20 { bits = random.next() }
            let digit = index == 0 ? bits & 31 : index == tokenLength - 1 ? (bits & 3) << 4 : bits & 63
            token.append(digits[Int(digit)])
            bits >>= 6
        }
        return String(decoding: token, as: UTF8.self)
    }

    package static func isToken(_ text: String) -> Bool {
        text.utf8.count == tokenLength && text.utf8.allSatisfy { digits.contains($0) }
    }
}

/// The kernel's random numbers (getentropy(3)), four at a time: a system call costs more than what it brings, and one
/// notification's names take four.
package struct KernelRandom: RandomNumberGenerator {
    private static let words = 4

    private var words: [UInt64] = []

    package init() {}

    /// The next 64 bits.
    package mutating func next() -> UInt64 {
        if words.isEmpty {
            words = [UInt64](unsafeUninitializedCapacity: Self.words) { buffer, count in
                if getentropy(buffer.baseAddress, Self.words * 8) == 0 { count = Self.words }
            }
        }
        if let word = words.popLast() { return word }
        // A kernel or a sandbox without that call; Swift's own generator knows another way.
        var system = SystemRandomNumberGenerator()
        return system.next()
    }
}
