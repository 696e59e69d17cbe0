// SPDX-License-Identifier: Apache-2.0
import Glibc
internal import JSON
import Store
import Synchronization
internal import Text

/// One table: JSON Lines files, chosen by the hash of the key, appended under a lock, read without one.
///
/// The hash is read from its top: two hexadecimal digits name the file (`3f.jsonl`); where that grew too large it has
/// become a folder (`3f/`) whose files are named by the next digit, and so on. The hashes of one file are therefore
/// one range of numbers, and walking all files in order is walking all hashes in order.
final class BucketTable: Sendable {
    /// Deeper folders are not made: at this depth a file that is too large holds one key, or 2^32 of them exist.
    static let maximumDepth = 6
    /// A file larger than this was not written by us, and reading it would take the memory of all requests.
    static let maximumFileBytes = 512 << 20
    static let fileSuffix = ".jsonl"

    let context: StoreContext
    let schema: TableSchema
    let locks: BucketLocks?
    let lineNames: LineNames
    private let usualDepth = UsualDepth()

    /// How deep the file lay that was found last by looking at all levels.
    private final class UsualDepth: Sendable {
        private let depth = Atomic<Int>(0)

        var current: Int {
            get { depth.load(ordering: .relaxed) }
            set { depth.store(newValue, ordering: .relaxed) }
        }
    }

    init(_ context: StoreContext, _ schema: TableSchema, _ locks: BucketLocks?) {
        (self.context, self.schema, self.locks) = (context, schema, locks)
        lineNames = LineNames(context.hash, schema)
    }

    /// Bits of the hash that the first level uses up.
    private var firstBits: Int { schema.beginsWhole ? 0 : 8 }

    /// Records that a file of that depth may keep; nil: all.
    func recordLimit(depth: Int) -> Int? {
        schema.maximumRecords.map { max(1, $0 >> (firstBits + 4 * depth)) }
    }

    func hash(of key: String) -> UInt64 { context.hash.hash(key) }

    /// Which of the 256 locks guards this hash. A file never holds hashes of two locks.
    func lockIndex(_ hash: UInt64) -> UInt8 {
        schema.beginsWhole ? 0 : UInt8(truncatingIfNeeded: hash >> 56)
    }

    // MARK: Where a hash lives

    /// The folder of that depth, relative to the store's; with `.jsonl` behind it the file.
    func path(_ hash: UInt64, depth: Int) -> String {
        // Written into one piece of memory: each read of a record asks for two paths.
        let name = schema.name.utf8
        let digits = firstBits / 4
        return String(unsafeUninitializedCapacity: name.count + 1 + digits + 2 * depth) { bytes in
            var (end, shift) = (0, 64)
            func write(_ byte: UInt8) {
                bytes[end] = byte
                end += 1
            }
            func writeDigit() {
                shift -= 4
                let digit = UInt8(truncatingIfNeeded: hash >> UInt64(shift) & 15)
                write(digit < 10 ? digit + 0x30 : digit + 0x57)
            }
            name.forEach(write)
            if digits > 0 { write(UInt8(ascii: "/")) }
            for _ in 0..<digits { writeDigit() }
            for _ in 0..<depth {
                write(UInt8(ascii: "/"))
                writeDigit()
            }
            return end
        }
    }

    /// The first hash behind the file that holds this one; nil behind the last file.
    func nextHash(_ hash: UInt64, depth: Int) -> UInt64? {
        let bits = firstBits + 4 * depth
        guard bits > 0 else { return nil }
        let width = UInt64(1) << UInt64(64 - bits)
        let (next, overflow) = (hash & ~(width - 1)).addingReportingOverflow(width)
        return overflow ? nil : next
    }

    /// How deep the file of this hash lies. A folder wins over a file of the same name, for readers and writers
    /// alike: a split that was cut short by a crash leaves both, and the folder is the newer one.
    func depth(_ hash: UInt64) -> Int {
        var depth = 0
        while depth < Self.maximumDepth, isFolder(at: path(hash, depth: depth)) { depth += 1 }
        return depth
    }

    private func isFolder(at name: String) -> Bool { Self.isFolder(context.path + "/" + name) }

    static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Opens the file of this hash, following a split that happens meanwhile; nil when there is none.
    func open(_ hash: UInt64, _ flags: Int32) throws(StoreError) -> (file: OpenFile, depth: Int)? {
        // Most files of a table lie equally deep. One that is there, and no folder in its place, is the right one.
        let usual = usualDepth.current
        if usual > 0, !isFolder(at: path(hash, depth: usual)),
            let file = try OpenFile.openIfPresent(context, path(hash, depth: usual) + Self.fileSuffix, flags)
        {
            return (file, usual)
        }
        while true {
            let depth = depth(hash)
            let path = path(hash, depth: depth)
            if let file = try OpenFile.openIfPresent(context, path + Self.fileSuffix, flags) {
                usualDepth.current = depth
                return (file, depth)
            }
            // Each turn of the loop is one level deeper, so it ends.
            guard depth < Self.maximumDepth, isFolder(at: path) else { return nil }
        }
    }

    // MARK: Reading

    /// The file that holds the key; nil when there is none yet.
    func read(_ key: String) throws(StoreError) -> BucketContent? {
        guard let (file, _) = try open(hash(of: key), O_RDONLY) else { return nil }
        return try Self.content(of: file)
    }

    static func content(of file: OpenFile) throws(StoreError) -> BucketContent {
        try content(of: file, file.identity())
    }

    /// What it held when it was looked at: lines that were added since are not among them.
    static func content(of file: OpenFile, _ identity: FileIdentity) throws(StoreError) -> BucketContent {
        try checkSize(identity.size, of: file)
        return BucketContent(bytes: try file.read(identity.size), name: file.name, identity: identity)
    }

    static func checkSize(_ size: Int, of file: OpenFile) throws(StoreError) {
        guard size <= maximumFileBytes else {
            throw .damaged(detail: "\(file.name): larger than \(maximumFileBytes) bytes")
        }
    }

    /// Calls `body` with the lines of that key and id (nil: any id), oldest first; reports those that are broken.
    func forEachLine(_ content: BucketContent?, key: String, id: JSONValue?, _ body: (Line) -> Void) {
        guard let content else { return }
        let probe = LinePrefilter(schema, key: key, id: id)
        content.forEachLine { raw in
            if case .other = probe.examine(raw.bytes) { return }
            guard let line = decode(raw, of: content) else { return }
            if line.key.hasSameBytes(as: key), id == nil || id == line.id { body(line) }
        }
    }

    /// The line, parsed; nil, and reported, when it is broken. Reported too when it was edited.
    func decode(_ raw: BucketContent.RawLine, of content: BucketContent) -> Line? {
        do {
            let line = try LineCodec.decode(raw.bytes, schema)
            if !line.hasValidChecksum { context.reportOnce(.editedLine(file: content.name, line: raw.number)) }
            return line
        } catch {
            context.reportOnce(.brokenLine(file: content.name, line: raw.number, reason: error.reason))
            return nil
        }
    }

    // MARK: Writing

    /// Runs `change` under the lock of the key's bucket, then makes durable what it appended, after the lock is
    /// released: flushes of several threads become one in the kernel.
    /// - Parameters:
    ///   - now: when given, a compaction that is due drops what has expired.
    ///   - durably: false leaves the flush to a later write, for hints that may be lost.
    func write<Outcome>(
        _ key: String, now: Timestamp? = nil, durably: Bool = true,
        _ change: (BucketWriter) throws(StoreError) -> Outcome
    ) throws(StoreError) -> Outcome {
        let (outcome, writer) = try writeWithoutFlush(key, now: now, change)
        if durably { try writer.flush() }
        return outcome
    }

    /// As `write(_:now:durably:_:)`, and leaves the flush to the caller, who may have several to wait for.
    func writeWithoutFlush<Outcome>(
        _ key: String, now: Timestamp? = nil, _ change: (BucketWriter) throws(StoreError) -> Outcome
    ) throws(StoreError) -> (Outcome, BucketWriter) {
        let hash = hash(of: key)
        return try withLock(hash) { () throws(StoreError) -> (Outcome, BucketWriter) in
            let writer = try openWriter(hash, now)
            return (try change(writer), writer)
        }
    }

    /// - Throws: `poisoned`, `readOnly` and `busy`; then what `body` throws.
    func withLock<Outcome>(
        _ hash: UInt64, _ body: () throws(StoreError) -> Outcome
    ) throws(StoreError) -> Outcome {
        try context.checkWritable()
        guard let locks else { throw .readOnly }
        return try locks.withLock(lockIndex(hash)) { () throws(StoreError) -> Outcome in
            try context.checkWritable()
            return try body()
        }
    }

    private func openWriter(_ hash: UInt64, _ now: Timestamp?) throws(StoreError) -> BucketWriter {
        let flags = O_RDWR | O_APPEND
        if let (file, depth) = try open(hash, flags) {
            // First of all it ends the tail, which a compaction would otherwise take for nothing.
            let writer = try BucketWriter(context, file)
            guard try isCompactionDue(file, writer.size) else { return writer }
            do throws(StoreError) {
                try compact(file, hash, depth: depth, now: now)
            } catch .full {
                // The line may still fit where its compacted neighbours do not.
                context.report(.tidyingFailed(file: file.name, .full))
            }
        }
        if let (file, _) = try open(hash, flags) { return try BucketWriter(context, file) }
        return try BucketWriter(context, try createFile(hash))
    }

    /// The name is made durable before the lock is released: the next writer must not depend on this one for that.
    private func createFile(_ hash: UInt64) throws(StoreError) -> OpenFile {
        let path = path(hash, depth: depth(hash))
        let file = try OpenFile.open(context, path + Self.fileSuffix, O_RDWR | O_APPEND | O_CREAT)
        try context.flushFolder(Self.folder(of: path))
        return file
    }

    /// The folder that holds the path, relative to the store's; `.` for the store's own.
    static func folder(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return String(path[..<slash])
    }

    /// Whether the file passed the limit and has doubled since it was last rewritten; without the second rule a file
    /// that cannot shrink would be rewritten at every write.
    private func isCompactionDue(_ file: OpenFile, _ size: Int) throws(StoreError) -> Bool {
        guard size > context.options.bucketBytes else { return false }
        return size / 2 > BucketContent.base(try file.read(min(size, 64)))
    }
}
