// SPDX-License-Identifier: Apache-2.0
import FileStore
import Glibc
import Synchronization

/// Counts what a store reads of its files.
final class ReadCount: Sendable {
    private let calls = Atomic(0)
    private let bytes = Atomic(0)

    /// The system's calls but flushes, with the count.
    var counting: DiskCalls {
        var counting = DiskCalls.withoutFlushes
        counting.read = { [self] descriptor, buffer, offset in
            let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
            calls.add(1, ordering: .relaxed)
            bytes.add(max(0, count), ordering: .relaxed)
            return count
        }
        return counting
    }

    /// Calls and bytes while `body` runs.
    func during(_ body: () throws -> Void) rethrows -> [Int] {
        let before = [calls.load(ordering: .relaxed), bytes.load(ordering: .relaxed)]
        try body()
        return [calls.load(ordering: .relaxed) - before[0], bytes.load(ordering: .relaxed) - before[1]]
    }
}
