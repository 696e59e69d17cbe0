// SPDX-License-Identifier: Apache-2.0
import Store

import class System.Lock

/// Whether the store takes writes, for messages of which nothing is written before the hub gets them.
///
/// A look at a file store makes and removes a file, which takes as long as the rest of a send. So a good answer counts for a
/// second, or until a write fails.
package final class WriteCheck: Sendable {
    static let trust = Duration.seconds(1)

    private let trustedUntil = Lock<ContinuousClock.Instant?>(nil)
    private let now: @Sendable () -> ContinuousClock.Instant

    package init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.now = now
    }

    /// - Throws: `StoreError`, when the store cannot be written.
    func check(_ store: any StateStore) throws(StoreError) {
        let time = now()
        if let end = trustedUntil.withLock({ $0 }), time < end { return }
        if let trouble = store.health().trouble { throw trouble }
        trustedUntil.withLock { $0 = time + Self.trust }
    }

    /// A write has failed: the next message looks.
    func forget() {
        trustedUntil.withLock { $0 = nil }
    }
}
