// SPDX-License-Identifier: Apache-2.0
import CPlatform
import Glibc

/// Wakes the thread that polls it (eventfd(2)); any thread may signal.
package struct EventFD: Sendable {
    private let descriptor: Descriptor

    /// What to poll: readable from `signal()` to `drain()`.
    package var number: Int32 { descriptor.number }

    /// Nil where the system has no descriptor left for it; `errno` says why.
    package init?() {
        let number = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        guard number >= 0 else { return nil }
        descriptor = Descriptor(owning: number)
    }

    /// Makes it readable until `drain()`.
    package func signal() {
        var one: UInt64 = 1
        // Fails only when the counter is full: then it is readable already.
        _ = write(descriptor.number, &one, MemoryLayout<UInt64>.size)
    }

    /// Makes it unreadable until the next `signal()`.
    package func drain() {
        var count: UInt64 = 0
        _ = read(descriptor.number, &count, MemoryLayout<UInt64>.size)
    }
}
