// SPDX-License-Identifier: Apache-2.0
import FileStore
import Glibc
import Store
import Synchronization

/// Counts how often a store has files flushed, which are still flushed.
final class FlushCount: Sendable {
    private let flushes = Atomic(0)

    /// The system's calls, with the count.
    var counting: DiskCalls {
        DiskCalls(flushFile: { [self] descriptor in
            flushes.add(1, ordering: .relaxed)
            return fdatasync(descriptor)
        })
    }

    /// How many flushes there are while `body` runs.
    func during(_ body: () throws -> Void) rethrows -> Int {
        let before = flushes.load(ordering: .relaxed)
        try body()
        return flushes.load(ordering: .relaxed) - before
    }
}
