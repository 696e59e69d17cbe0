// SPDX-License-Identifier: Apache-2.0
import Synchronization

import class System.Lock

final class CallCount: Sendable {
    let number = Atomic(0)
}

/// Whose records a store was asked for.
final class UserReads: Sendable {
    private let names = Lock<[String]>([])

    func note(_ name: String) { names.withLock { $0.append(name) } }

    /// In their order, since the last call of this.
    func take() -> [String] {
        names.withLock { names in
            defer { names = [] }
            return names
        }
    }
}
