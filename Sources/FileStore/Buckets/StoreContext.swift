// SPDX-License-Identifier: Apache-2.0
import Glibc
import Store
import Synchronization
import System
internal import Text

/// What all tables of one store share: where it is, how it may behave, and whether it may still be written.
final class StoreContext: Sendable {
    /// So many lines are reported; an operator who has more knows by then, and the log has other things to say.
    private static let maximumReportedLines = 1_024

    let path: String
    let options: FileSiteStore.Options
    /// Chooses the bucket of a key.
    let hash: SipHash
    let lineIndexes = LineIndexes()
    let helpers = FlushHelpers()
    let sequence = CreationSequence()
    private let sharedFlushes = SharedFlushes()
    /// The mount or the folder does not let us write.
    let isReadOnly: Bool
    private let poison = Atomic<Bool>(false)
    /// The `errno` that keeps the store from being written and was reported; 0 while writing works.
    private let obstacle = Atomic<Int32>(0)
    private let reported = Lock<Set<String>>([])

    init(path: String, options: FileSiteStore.Options, hash: SipHash, isReadOnly: Bool) {
        self.path = path
        self.options = options
        self.hash = hash
        self.isReadOnly = isReadOnly
    }

    var isPoisoned: Bool { poison.load(ordering: .acquiring) }

    /// - Throws: `poisoned` or `readOnly`.
    func checkWritable() throws(StoreError) {
        if isPoisoned { throw .poisoned }
        if isReadOnly { throw .readOnly }
    }

    /// - Throws: `poisoned` when the flush fails, now and from then on: the kernel has dropped the pages that it could not
    ///   write and marked them clean, so a second flush would succeed without having written them.
    func flush(_ file: OpenFile) throws(StoreError) {
        try flush(file, with: options.calls.flushFile)
    }

    /// As `flush(_:)`, together with all threads that wait for that file.
    func flush(_ file: UnflushedFile) throws(StoreError) {
        try sharedFlushes.flush(file) { (descriptor) throws(StoreError) in try flush(descriptor) }
    }

    /// Makes the names in a folder durable.
    /// - Throws: as `flush(_:)`.
    func flushFolder(_ name: String) throws(StoreError) {
        let folder = try OpenFile.open(self, name, O_RDONLY | O_DIRECTORY)
        try flush(folder, with: options.calls.flushFolder)
    }

    private func flush(_ file: OpenFile, with call: (Int32) -> Int32) throws(StoreError) {
        guard !isPoisoned else { throw .poisoned }
        BlockingNotice.post()
        guard call(file.number) == 0 else {
            let reason = systemErrorText(errno)
            poison.store(true, ordering: .releasing)
            options.onEvent(.poisoned(file: file.name, reason: reason))
            throw .poisoned
        }
    }

    /// What a failed call on a file that was to be written means. A full or read-only disk is reported once, with the
    /// file and the system's reason, until something is written again or the reason is another.
    func writeFailure(_ code: Int32, _ call: String, _ file: String) -> StoreError {
        let error = StoreError(code, call, file, writing: true)
        if error == .full || error == .readOnly, obstacle.exchange(code, ordering: .relaxed) != code {
            report(.unwritable(file: file, reason: systemErrorText(code)))
        }
        return error
    }

    /// Something was written: the next failure is reported again.
    func noteWritten() {
        if obstacle.load(ordering: .relaxed) != 0 { obstacle.store(0, ordering: .relaxed) }
    }

    func report(_ event: StoreEvent) {
        options.onEvent(event)
    }

    /// Reports an event of a line, unless one of the same line was reported before.
    func reportOnce(_ event: StoreEvent) {
        let place: String
        switch event {
        case .editedLine(let file, let line), .brokenLine(let file, let line, _): place = "\(file):\(line)"
        default: return report(event)
        }
        let isNew = reported.withLock { $0.count < Self.maximumReportedLines && $0.insert(place).inserted }
        if isNew { report(event) }
    }
}
