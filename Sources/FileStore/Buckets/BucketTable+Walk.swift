// SPDX-License-Identifier: Apache-2.0
import Glibc
import Store

/// The hashes that one file holds.
struct HashRange {
    let first: UInt64
    /// The first behind it; nil: it holds all that follow.
    let end: UInt64?

    func contains(_ hash: UInt64) -> Bool { hash >= first && (end.map { hash < $0 } ?? true) }
}

extension BucketTable {
    /// Calls `body` with every file, in the order of the hashes. Others may write meanwhile: a record is then in one file
    /// or another, and what was there before the walk and stays is met.
    /// - Parameter isLeftOut: is asked for a file by its identity and its name before it is read.
    func forEachFile(
        except isLeftOut: (FileIdentity, String) -> Bool = { _, _ in false },
        _ body: (BucketContent, HashRange) throws(StoreError) -> Void
    ) throws(StoreError) {
        var position: UInt64? = 0
        while let hash = position {
            let bucket = try open(hash, O_RDONLY)
            let end = nextHash(hash, depth: bucket?.depth ?? depth(hash))
            if let file = bucket?.file, !isLeftOut(try file.identity(), file.name) {
                try body(Self.content(of: file), HashRange(first: hash, end: end))
            }
            position = end
        }
    }

    /// Calls `body` with each of the elements, sorted by their hashes, together with the file that holds it, opening no
    /// file twice. Where there is no file the content is nil.
    func forEachFile<Element>(
        holding elements: [(hash: UInt64, element: Element)],
        _ body: (ArraySlice<(hash: UInt64, element: Element)>, BucketContent?) throws(StoreError) -> Void
    ) throws(StoreError) {
        var rest = elements.sorted { $0.hash < $1.hash }[...]
        while let first = rest.first?.hash {
            let bucket = try open(first, O_RDONLY)
            let range = HashRange(first: first, end: nextHash(first, depth: bucket?.depth ?? depth(first)))
            let group = rest.prefix { range.contains($0.hash) }
            var content: BucketContent?
            if let file = bucket?.file { content = try Self.content(of: file) }
            try body(group, content)
            rest = rest.dropFirst(group.count)
        }
    }
}
