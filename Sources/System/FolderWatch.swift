// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Hears of changes of the files in some folders, whichever process makes them (inotify(7)), until its last reference goes.
///
/// What another host changes in a file system that is shared over a network is not heard of.
package final class FolderWatch: Sendable {
    private let ended: EventFD

    /// - Parameters:
    ///   - pause: of several changes within this time the later ones are told at its end, together.
    ///   - onChange: called after a change, on a thread of the watch.
    /// - Returns: nil where the system does not tell: a folder is not there, or this user has as many watches as one may have.
    package init?(_ paths: [String], pause: Duration, onChange: @escaping @Sendable () -> Void) {
        let number = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        guard number >= 0 else { return nil }
        let changes = Descriptor(owning: number)
        guard let ended = EventFD() else { return nil }
        self.ended = ended
        let kinds = UInt32(IN_MODIFY | IN_CREATE | IN_MOVED_TO)
        for path in paths where inotify_add_watch(number, path, kinds) < 0 { return nil }
        let status = DetachedThread.start {
            while Self.wait(for: [changes.number, ended.number], .seconds(3600)) != ended.number {
                guard Self.drain(changes.number) else { continue }
                onChange()
                if Self.wait(for: [ended.number], pause) != nil { return }
            }
        }
        guard status == 0 else { return nil }
    }

    deinit {
        ended.signal()
    }

    /// - Returns: the last of the descriptors that can be read; nil when the time is over or a signal came.
    private static func wait(for numbers: [Int32], _ duration: Duration) -> Int32? {
        var descriptors = numbers.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        let milliseconds = Int32(clamping: Int(duration / .milliseconds(1)))
        guard Glibc.poll(&descriptors, nfds_t(descriptors.count), milliseconds) > 0 else { return nil }
        return descriptors.last { $0.revents != 0 }?.fd
    }

    /// Reads all that the kernel has to tell.
    /// - Returns: whether that was anything.
    private static func drain(_ number: Int32) -> Bool {
        var hasChanged = false
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { events in
            while read(number, events.baseAddress, events.count) > 0 { hasChanged = true }
        }
        return hasChanged
    }
}
