// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
    import Foundation
#else
    import Synchronization
#endif

/// A value that one thread at a time reads or changes.
final class Guarded<Value: Sendable>: @unchecked Sendable {
    #if canImport(Darwin)
        // `Mutex` needs systems of 2024.
        private let lock = NSLock()
        private var value: Value

        init(_ value: Value) { self.value = value }

        func withLock<Outcome: Sendable>(_ body: (inout Value) -> Outcome) -> Outcome {
            lock.lock()
            defer { lock.unlock() }
            return body(&value)
        }
    #else
        private let value: Mutex<Value>

        init(_ value: Value) { self.value = Mutex(value) }

        func withLock<Outcome: Sendable>(_ body: (inout Value) -> Outcome) -> Outcome {
            value.withLock { body(&$0) }
        }
    #endif
}
