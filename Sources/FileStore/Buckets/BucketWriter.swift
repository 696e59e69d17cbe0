// SPDX-License-Identifier: Apache-2.0
import Store

/// A bucket that is open for appending. It exists while the bucket's lock is held, and after that only to be flushed.
final class BucketWriter {
    private let context: StoreContext
    let file: OpenFile
    /// Which file it is; its size and times are those of the moment when it was opened.
    let identity: FileIdentity
    private(set) var size: Int
    private var needsFlush = false

    /// - Parameter file: open for reading and appending.
    init(_ context: StoreContext, _ file: OpenFile) throws(StoreError) {
        self.context = context
        self.file = file
        identity = try file.identity()
        size = identity.size
        try endTail()
    }

    /// Relative to the store's folder.
    var name: String { file.name }

    /// Ends the half line that a dead writer left, so that the next line is one of its own. The half is never valid:
    /// no beginning of a JSON object is one.
    private func endTail() throws(StoreError) {
        guard size > 0, try file.byte(at: size - 1) != 0x0A else { return }
        try append([0x0A])
    }

    func content() throws(StoreError) -> BucketContent {
        try BucketTable.content(of: file)
    }

    /// As `BucketTable.forEachPiece(of:_:)`.
    func forEachPiece(_ body: (BucketContent) throws(StoreError) -> Void) throws(StoreError) {
        try BucketTable.forEachPiece(of: file, body)
    }

    /// The bytes from that offset on.
    func content(from offset: Int) throws(StoreError) -> BucketContent {
        try BucketTable.checkSize(size, of: file)
        return BucketContent(bytes: try file.read(size - offset, from: offset), name: name, identity: identity)
    }

    /// Appends whole lines. When it throws, none of them is there: what was written of them is cut off again.
    func append(_ lines: [UInt8]) throws(StoreError) {
        do throws(StoreError) {
            try file.write(lines)
        } catch {
            if !file.truncate(to: size) { context.report(.tidyingFailed(file: file.name, error)) }
            throw error
        }
        size += lines.count
        needsFlush = true
    }

    /// Makes durable what was appended. Nothing appended, nothing done.
    func flush() throws(StoreError) {
        guard let unflushed else { return }
        try context.flush(unflushed)
        needsFlush = false
    }

    /// Nil where nothing was appended.
    var unflushed: UnflushedFile? { needsFlush ? UnflushedFile(descriptor: file, identity: identity) : nil }
}
