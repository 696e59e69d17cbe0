// SPDX-License-Identifier: Apache-2.0
import Glibc

extension FileStore {
    /// Reads every line of the store and counts. Changes nothing; others may write meanwhile.
    /// - Parameter onFile: hears the name of the table after each of its files.
    /// - Throws: when a file cannot be read at all.
    package func statistics(
        now: Timestamp, onFile: (_ table: String) -> Void = { _ in }
    ) throws(StoreError) -> StoreStatistics {
        var statistics = StoreStatistics()
        for table in allTables.map(\.table) {
            var counts = TableStatistics(name: table.schema.name)
            try table.forEachFile { (content, _) in
                counts.add(content, table, now: now)
                onFile(counts.name)
            }
            counts.quarantinedLines = try quarantinedLines(of: table)
            counts.inodes = context.usage(of: counts.name).inodes
            counts.inodes += context.usage(of: counts.name + BucketTable.fileSuffix).inodes
            statistics.tables.append(counts)
        }
        (statistics.inodes, statistics.bytes) = context.usage(of: "")
        return statistics
    }

    /// Files of `quarantine/` are named for those whose lines they have, with dashes for slashes.
    private func quarantinedLines(of table: BucketTable) throws(StoreError) -> Int {
        let name = table.schema.name.split(separator: "/").joined(separator: "-")
        var lines = 0
        for file in FolderNames.list(context.path + "/quarantine")
        where file == name + ".jsonl" || file.hasPrefix(name + "-") {
            guard let file = try Descriptor.openIfPresent(context, "quarantine/" + file, O_RDONLY) else { continue }
            lines += try BucketTable.content(of: file).bytes.count { $0 == 0x0A }
        }
        return lines
    }
}

extension StoreContext {
    /// Files and folders there, itself included, and their bytes; links are not followed. What goes away meanwhile is not
    /// counted, nor is what cannot be seen.
    /// - Parameter name: relative to the store's folder; empty for that itself.
    func usage(of name: String) -> (inodes: Int, bytes: Int) {
        var status = stat()
        guard lstat(path + "/" + name, &status) == 0 else { return (0, 0) }
        guard status.st_mode & S_IFMT == S_IFDIR else { return (1, Int(status.st_size)) }
        var usage = (inodes: 1, bytes: 0)
        for inner in FolderNames.list(path + "/" + name) {
            let found = self.usage(of: name + "/" + inner)
            usage.inodes += found.inodes
            usage.bytes += found.bytes
        }
        return usage
    }
}
