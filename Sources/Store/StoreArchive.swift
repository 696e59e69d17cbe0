// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A copy of a store as one tar archive, made while others write.
///
/// Every bucket is in it whole, as it was at some moment after the beginning. The indexes may be older or newer than the
/// records that they lead to, so the store is reindexed when the copy is opened, as every copy is.
package struct StoreArchive {
    /// What this run left out, relative to the store's folder: neither a file nor a folder.
    package private(set) var skipped: [String] = []
    /// Files that are in it.
    package private(set) var files = 0

    private let context: StoreContext
    private let write: ([UInt8]) throws(StoreError) -> Void

    private init(_ context: StoreContext, _ write: @escaping ([UInt8]) throws(StoreError) -> Void) {
        self.context = context
        self.write = write
    }

    fileprivate static func make(
        of context: StoreContext, _ write: @escaping ([UInt8]) throws(StoreError) -> Void
    ) throws(StoreError) -> StoreArchive {
        var archive = StoreArchive(context, write)
        try archive.addFolder("")
        try write(TarWriter.end)
        return archive
    }

    /// Locks mean nothing elsewhere, the mark only here, and temporary names nothing at all.
    private static func isLeftOut(_ name: String) -> Bool {
        name == "lock" || name == IndexMark.name || name.hasSuffix(".tmp")
    }

    /// - Parameter folder: relative to the store's; with a slash at its end, or empty for the store's own.
    private mutating func addFolder(_ folder: String) throws(StoreError) {
        let names = try names(in: folder)
        for name in names.map({ folder + $0 }).sorted() where !Self.isLeftOut(name) {
            // A file beside the folder that took its place when it was split.
            if let successor = Self.folder(ofBucket: name), names.contains(where: { folder + $0 == successor }) {
                continue
            }
            try add(name)
        }
    }

    private mutating func add(_ name: String) throws(StoreError) {
        var status = stat()
        guard lstat(context.path + "/" + name, &status) == 0 else {
            guard errno == ENOENT else { throw StoreError(errno, "stat", name, writing: false) }
            return try addSuccessor(of: name)
        }
        switch status.st_mode & S_IFMT {
        case S_IFDIR:
            try addHeader(name, .folder, status, size: 0)
            try addFolder(name + "/")
        case S_IFREG: try addFile(name)
        default: skipped.append(name)
        }
    }

    private mutating func addFile(_ name: String) throws(StoreError) {
        guard let file = try Descriptor.openIfPresent(context, name, O_RDONLY) else {
            return try addSuccessor(of: name)
        }
        let content = try BucketTable.content(of: file)
        var status = stat()
        guard fstat(file.number, &status) == 0 else { throw StoreError(errno, "fstat", name, writing: false) }
        try addHeader(name, .file, status, size: content.bytes.count)
        try write(content.bytes)
        try write(TarWriter.padding(content.bytes.count))
        files += 1
    }

    /// A bucket's file that is there no more was split after the names were read, so the folder is not among them. Other
    /// files go for ever.
    private mutating func addSuccessor(of name: String) throws(StoreError) {
        guard let folder = Self.folder(ofBucket: name), BucketTable.isFolder(context.path + "/" + folder) else {
            return
        }
        try add(folder)
    }

    private static func folder(ofBucket name: String) -> String? {
        name.hasSuffix(BucketTable.fileSuffix) ? String(name.dropLast(BucketTable.fileSuffix.utf8.count)) : nil
    }

    private func addHeader(
        _ name: String, _ kind: TarWriter.Kind, _ status: stat, size: Int
    ) throws(StoreError) {
        let entry = TarWriter.Entry(
            name: name, kind: kind, mode: status.st_mode, size: size, modified: status.st_mtim.tv_sec)
        guard let header = TarWriter.header(entry) else {
            throw .unavailable(detail: "\(name): too long a name, or too large a file, for an archive")
        }
        try write(header)
    }

    private func names(in folder: String) throws(StoreError) -> [String] {
        guard let names = FolderNames.read(context.path + "/" + folder) else {
            throw StoreError(errno, "opendir", folder, writing: false)
        }
        return names
    }
}

extension FileStore {
    /// Hands over the bytes of a tar archive of the whole store, in pieces. Others may read and write meanwhile.
    /// - Throws: what `write` throws; when a file cannot be read. The archive has no end then, and tar says so.
    package func archive(
        _ write: @escaping ([UInt8]) throws(StoreError) -> Void
    ) throws(StoreError) -> StoreArchive {
        try StoreArchive.make(of: context, write)
    }
}
