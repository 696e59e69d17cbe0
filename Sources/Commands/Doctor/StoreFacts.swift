// SPDX-License-Identifier: Apache-2.0
import CPlatform
import FileStore
import Glibc
import Server
import Store
import System
import Text

/// What can be seen of a store without writing to it.
struct StoreFacts: Sendable {
    /// What waits in the built-in hub.
    struct Queue: Equatable, Sendable {
        var count: Int
        /// Of the oldest message.
        var oldestSeconds: Int64
    }

    /// nil: there is no such folder, or it may not be looked at.
    var folder: FileMode?
    /// Why the folder may not be written, in the system's words; nil: it may.
    var writeRefusal: Int32?
    var freeBytes: Int64?
    /// nil also where the file system has no such limit.
    var freeInodes: Int64?
    /// The first file in it that belongs to another user.
    var foreignOwnedFile: String?
    var error: StoreError?
    /// Of a folder, what is known is more exact.
    var health: StoreHealth?
    var users: Int?
    var remarks = UserRemarks()
    /// Lines that could not be read on the way.
    var brokenLines: [String] = []
    var queue: Queue?
    /// Lines that were put aside.
    var quarantinedLines = 0

    init() {}

    /// Bytes of `quarantine/` that are looked at.
    private static let maximumQuarantine = 16 << 20
    /// Entries of a folder that are looked at.
    static let maximumEntries = 10_000
    /// Files of the store that are looked at for their owner.
    static let maximumFiles = 20_000
    /// Folders of a path from the store's own to a file in it.
    private static let maximumDepth = 3

    /// Looks at the store, as a user who may: reads, and takes no lock.
    /// - Parameters:
    ///   - path: of its folder.
    ///   - configuration: beside which the users are looked at.
    ///   - now: the present moment.
    ///   - running: the store as this process has it open; nil: it is opened for the look.
    init(path: String, _ configuration: SiteConfiguration, now: Timestamp, running: (any SiteStore)? = nil) {
        folder = FileMode(path)
        guard folder != nil else { return }
        if access(path, W_OK) != 0 { writeRefusal = errno }
        let free = FreeSpace(path: path)
        (freeBytes, freeInodes) = (free?.bytes, free?.inodes)
        foreignOwnedFile = Self.foreignOwnedFile(in: path, owner: folder?.owner)
        do throws(StoreError) {
            if let running {
                try lookAtContents(running, configuration, now)
            } else {
                try openAndLook(path, configuration, now)
            }
        } catch {
            self.error = error
        }
        quarantinedLines = Self.lines(in: path + "/quarantine")
    }

    private mutating func openAndLook(
        _ path: String, _ configuration: SiteConfiguration, _ now: Timestamp
    ) throws(StoreError) {
        var options = FileSiteStore.Options()
        options.isReadOnly = true
        let found = BrokenLines()
        options.onEvent = { found.add($0) }
        defer { brokenLines = found.places }
        try lookAtContents(try FileSiteStore.open(path: path, options: options), configuration, now)
    }

    /// Looks at a store that is in no folder.
    init(_ configuration: SiteConfiguration, now: Timestamp, open: () throws(StoreError) -> any SiteStore) {
        do throws(StoreError) {
            let store = try open()
            health = store.health()
            try lookAtContents(store, configuration, now)
        } catch {
            self.error = error
        }
    }

    private mutating func lookAtContents(
        _ store: any SiteStore, _ configuration: SiteConfiguration, _ now: Timestamp
    ) throws(StoreError) {
        let all = try store.users()
        (users, remarks) = (all.count, UserRemarks(all, configuration))
        let backlog = try store.hubQueueBacklog(now: now)
        queue = Queue(
            count: backlog.messages, oldestSeconds: backlog.oldest.map { max(0, now.seconds - $0.seconds) } ?? 0)
    }

    /// A file that root left there while the service runs as another user.
    /// - Parameter modeOf: of a file, as `FileMode.init`.
    static func foreignOwnedFile(
        in path: String, owner: uid_t?, atMost maximum: Int = maximumFiles,
        modeOf: (String) -> FileMode? = { FileMode($0) }
    ) -> String? {
        var folders = [""]
        var left = maximum
        for _ in 0..<maximumDepth {
            var inner: [String] = []
            for folder in folders where left > 0 {
                for name in FolderNames.list(path + folder, maximum: min(left, maximumEntries)) {
                    left -= 1
                    let place = "\(folder)/\(name)"
                    guard let mode = modeOf(path + place) else { continue }
                    if mode.owner != owner { return String(place.dropFirst()) }
                    if mode.kind == S_IFDIR { inner.append(place) }
                }
            }
            folders = inner
        }
        return nil
    }

    private static func lines(in path: String) -> Int {
        var lines = 0
        var left = maximumQuarantine
        for name in FolderNames.list(path, maximum: maximumEntries) {
            let file = platform_open("\(path)/\(name)", O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0)
            guard file >= 0 else { continue }
            defer { close(file) }
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while left > 0 {
                let count = read(file, &buffer, buffer.count)
                guard count > 0 else { break }
                lines += buffer.prefix(count).count { $0 == UInt8(ascii: "\n") }
                left -= count
            }
        }
        return lines
    }
}

/// Collects where a store could not be read.
private final class BrokenLines: Sendable {
    /// Places that are remembered.
    private static let maximum = 100

    private let found = Lock<[String]>([])

    func add(_ event: StoreEvent) {
        guard case .brokenLine(let file, let line, _) = event else { return }
        found.withLock { if $0.count < Self.maximum { $0.append("\(file):\(line)") } }
    }

    /// `users.jsonl:3`, as many as there were up to the limit.
    var places: [String] { found.withLock(\.self) }
}

/// What stat(2) says of a file.
struct FileMode: Equatable, Sendable {
    var kind: mode_t
    var mode: mode_t
    var owner: uid_t

    var octal: String { String(mode, radix: 8) }
}

extension FileMode {
    /// Nil, and `errno`, when there is no such file or it may not be looked at.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(kind: status.st_mode & S_IFMT, mode: status.st_mode & 0o777, owner: status.st_uid)
    }
}
