// SPDX-License-Identifier: Apache-2.0
internal import FileStore
internal import Store
import System

/// Collects where a store could not be read.
final class BrokenLines: Sendable {
    /// Places that are remembered.
    private static let maximum = 100

    private let found = Lock<[String]>([])

    func hear(_ event: StoreEvent) {
        guard case .brokenLine(let file, let line, _) = event else { return }
        found.withLock { if $0.count < Self.maximum { $0.append("\(file):\(line)") } }
    }

    /// `users.jsonl:3`, as many as there were up to the limit.
    var places: [String] { found.withLock(\.self) }
}
