// SPDX-License-Identifier: Apache-2.0
import CPlatform
import Glibc

/// A set of descriptors to wait for (epoll(7)).
package struct Poller: Sendable {
    /// What to wait for; combined as a set. An error or a hang-up is reported in any case.
    package struct Events: OptionSet, Sendable {
        package let rawValue: UInt32

        package init(rawValue: UInt32) { self.rawValue = rawValue }

        package static let readable = Events(rawValue: EPOLLIN.rawValue)
        /// The peer has ended its half of the connection.
        package static let peerEnded = Events(rawValue: EPOLLRDHUP.rawValue)
        package static let writable = Events(rawValue: EPOLLOUT.rawValue)
        /// Told when it becomes so, to one thread, and not again while it stays so.
        package static let edge = Events(rawValue: EPOLLET.rawValue)
    }

    private let descriptor: Descriptor

    /// Nil where the system has no descriptor left for it; `errno` says why.
    package init?() {
        let number = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard number >= 0 else { return nil }
        descriptor = Descriptor(owning: number)
    }

    /// Begins to watch a descriptor; false when it is watched already, or the system has no memory for it.
    package func add(_ number: Int32, _ events: Events) -> Bool {
        control(EPOLL_CTL_ADD, number, events)
    }

    /// Watches a descriptor for something else, or again.
    /// - Returns: false when it is not watched.
    @discardableResult package func change(_ number: Int32, _ events: Events) -> Bool {
        control(EPOLL_CTL_MOD, number, events)
    }

    /// A descriptor that is closed leaves by itself.
    package func remove(_ number: Int32) {
        _ = control(EPOLL_CTL_DEL, number, [])
    }

    private func control(_ operation: Int32, _ number: Int32, _ events: Events) -> Bool {
        var event = epoll_event()
        event.events = events.rawValue
        event.data.fd = number
        return epoll_ctl(descriptor.number, operation, number, &event) == 0
    }

    /// Waits for one descriptor.
    /// - Parameter milliseconds: -1 waits without end.
    /// - Returns: nil when the time is over or a signal came.
    package func next(milliseconds: Int32 = -1) -> Int32? {
        var event = epoll_event()
        return epoll_wait(descriptor.number, &event, 1, milliseconds) == 1 ? event.data.fd : nil
    }

    /// Waits, without a limit, for one descriptor or more, and calls `body` with each and what it is ready for; with none
    /// when a signal came.
    package func wait(atMost maximum: Int, _ body: (Int32, Events) -> Void) {
        withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: max(1, maximum)) { events in
            let count = epoll_wait(descriptor.number, events.baseAddress, Int32(clamping: events.count), -1)
            for index in 0..<max(0, Int(count)) {
                body(events[index].data.fd, Events(rawValue: events[index].events))
            }
        }
    }
}
