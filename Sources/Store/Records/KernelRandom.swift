// SPDX-License-Identifier: Apache-2.0
import Glibc

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
