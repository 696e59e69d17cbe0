// SPDX-License-Identifier: Apache-2.0
import CPlatform
import Glibc

/// A set of descriptors to wait for (epoll).
struct Poller: Sendable {
    /// What to wait for; combined as a set.
    struct Events: OptionSet, Sendable {
        let rawValue: UInt32
        static let readable = Events(rawValue: EPOLLIN.rawValue)
        static let writable = Events(rawValue: EPOLLOUT.rawValue)
        /// Told once, to one thread; then silent until `change`.
        static let once = Events(rawValue: EPOLLONESHOT.rawValue)
    }

    private let descriptor: Descriptor

    /// - Throws: `ServerError.noDescriptor`.
    init() throws(ServerError) {
        let number = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard number >= 0 else { throw .noDescriptor("epoll_create1: \(systemErrorText())") }
        descriptor = Descriptor(owning: number)
    }

    /// Begins to watch a descriptor; false when the system has no memory for it.
    func add(_ number: Int32, _ events: Events) -> Bool {
        control(EPOLL_CTL_ADD, number, events)
    }

    /// Watches a descriptor for something else, or again.
    @discardableResult func change(_ number: Int32, _ events: Events) -> Bool {
        control(EPOLL_CTL_MOD, number, events)
    }

    func remove(_ number: Int32) {
        _ = control(EPOLL_CTL_DEL, number, [])
    }

    private func control(_ operation: Int32, _ number: Int32, _ events: Events) -> Bool {
        var event = epoll_event()
        event.events = events.rawValue
        event.data.fd = number
        return epoll_ctl(descriptor.number, operation, number, &event) == 0
    }

    /// Waits for one descriptor.
    /// - Parameter milliseconds: -1 waits for ever.
    /// - Returns: nil when the time is over or a signal came.
    func next(milliseconds: Int32 = -1) -> Int32? {
        var event = epoll_event()
        return epoll_wait(descriptor.number, &event, 1, milliseconds) == 1 ? event.data.fd : nil
    }
}

/// A bell that wakes whoever polls it (eventfd).
struct Bell: Sendable {
    private let descriptor: Descriptor

    var number: Int32 { descriptor.number }

    /// - Throws: `ServerError.noDescriptor`.
    init() throws(ServerError) {
        let number = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        guard number >= 0 else { throw .noDescriptor("eventfd: \(systemErrorText())") }
        descriptor = Descriptor(owning: number)
    }

    /// Rings; it goes on ringing until `silence()`.
    func ring() {
        var one: UInt64 = 1
        // Fails only when the counter is full: then it rings already.
        _ = write(descriptor.number, &one, MemoryLayout<UInt64>.size)
    }

    func silence() {
        var count: UInt64 = 0
        _ = read(descriptor.number, &count, MemoryLayout<UInt64>.size)
    }
}
