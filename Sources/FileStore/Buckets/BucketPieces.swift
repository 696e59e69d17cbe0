// SPDX-License-Identifier: Apache-2.0
import Store

extension BucketTable {
    /// Bytes of a file that are in memory at once where its lines are wanted one after the other. Most files are smaller.
    static let pieceBytes = 256 << 10

    /// Calls `body` with the file's whole lines, piece by piece, so that a large file takes no more memory than a small one,
    /// or than its longest line.
    static func forEachPiece(
        of file: Descriptor, _ body: (BucketContent) throws(StoreError) -> Void
    ) throws(StoreError) {
        let identity = try file.identity()
        try checkSize(identity.size, of: file)
        var (bytes, offset, lines) = ([UInt8](), 0, 0)
        while offset < identity.size {
            let new = try file.read(min(pieceBytes, identity.size - offset), from: offset)
            guard !new.isEmpty else { return }
            offset += new.count
            let end = new.lastIndex(of: 0x0A)
            bytes = bytes.isEmpty ? new : bytes + new
            guard let end else { continue }
            let rest = new[(end + 1)...]
            let piece = BucketContent(bytes: bytes, name: file.name, identity: identity, linesBefore: lines)
            try body(piece)
            lines = piece.linesBefore + piece.lineFeeds
            bytes = Array(rest)
        }
    }
}

extension BucketContent {
    fileprivate var lineFeeds: Int { bytes.withUnsafeBufferPointer { $0.count { $0 == 0x0A } } }
}
