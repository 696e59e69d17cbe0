// SPDX-License-Identifier: Apache-2.0
import CPlatform
import Glibc

/// A bell that wakes whoever polls it (eventfd(2)); any thread may ring.
package struct Bell: Sendable {
    private let descriptor: Descriptor

    /// What to poll: readable while it rings.
    package var number: Int32 { descriptor.number }

    /// Nil where the system has no descriptor left for it; `errno` says why.
    package init?() {
        let number = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        guard number >= 0 else { return nil }
        descriptor = Descriptor(owning: number)
    }

    /// Rings; it goes on ringing until `silence()`.
    package func ring() {
        var one: UInt64 = 1
        // Fails only when the counter is full: then it rings already.
        _ = write(descriptor.number, &one, MemoryLayout<UInt64>.size)
    }

    package func silence() {
        var count: UInt64 = 0
        _ = read(descriptor.number, &count, MemoryLayout<UInt64>.size)
    }
}
