// SPDX-License-Identifier: Apache-2.0
internal import CPlatform
internal import FileStore
internal import Glibc
package import Store
package import Text

/// What can be seen of a store without writing to it.
package struct StoreFacts: Sendable {
    /// What waits in the local hub.
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
    /// The first file in it that belongs to somebody else.
    var strangersFile: String?
    var error: StoreError?
    /// Of a folder, what is known is more exact.
    var health: StoreHealth?
    var users: Int?
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

    /// Looks at the store, as a user who may: reads, and takes no lock.
    /// - Parameters:
    ///   - path: of its folder.
    ///   - now: the present moment.
    package init(path: String, now: Timestamp) {
        folder = FileMode(path)
        guard folder != nil else { return }
        if access(path, W_OK) != 0 { writeRefusal = errno }
        lookAtSpace(path)
        strangersFile = Self.strangersFile(in: path, owner: folder?.owner)
        let broken = BrokenLines()
        do throws(StoreError) {
            var options = FileSiteStore.Options()
            options.isReadOnly = true
            options.onEvent = { broken.hear($0) }
            try lookAtContents(try FileSiteStore.open(path: path, options: options), now)
        } catch {
            self.error = error
        }
        brokenLines = broken.places
        quarantinedLines = Self.lines(in: path + "/quarantine")
    }

    /// Looks at a store that is in no folder.
    package init(now: Timestamp, open: () throws(StoreError) -> any SiteStore) {
        do throws(StoreError) {
            let store = try open()
            health = store.health()
            try lookAtContents(store, now)
        } catch {
            self.error = error
        }
    }

    private mutating func lookAtContents(_ store: any SiteStore, _ now: Timestamp) throws(StoreError) {
        users = try store.users().count
        let backlog = try store.hubQueueBacklog()
        queue = Queue(
            count: backlog.messages, oldestSeconds: backlog.oldest.map { max(0, now.seconds - $0.seconds) } ?? 0)
    }

    private mutating func lookAtSpace(_ path: String) {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return }
        let blocks = Int64(clamping: status.f_bavail)
        freeBytes = blocks.multipliedReportingOverflow(by: Int64(clamping: status.f_frsize)).partialValue
        freeInodes = status.f_files == 0 ? nil : Int64(clamping: status.f_favail)
    }

    /// What root left there while the service is not root's.
    private static func strangersFile(in path: String, owner: uid_t?) -> String? {
        for folder in ["", "/lock", "/users", "/notifications", "/hub", "/quarantine"] {
            for name in FolderNames.list(path + folder, maximum: maximumEntries) {
                let place = folder.isEmpty ? name : "\(folder.dropFirst())/\(name)"
                if let mode = FileMode("\(path)/\(place)"), mode.owner != owner { return place }
            }
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
