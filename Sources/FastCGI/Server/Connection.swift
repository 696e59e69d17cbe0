// SPDX-License-Identifier: Apache-2.0
import CPlatform
import Glibc
import HTTP
import Synchronization
import System

/// One connection of the web server.
///
/// It has one owner at any time: the workers' poller, the worker that took it from there, or the event thread while a
/// request arrives in pieces. While its request is put off, no thread touches it. Only its owner touches the descriptor or
/// closes it.
final class Connection: Sendable {
    let number: Int32

    /// A request that waits with its connection.
    struct Stored {
        var buffer: ReceiveBuffer
        /// What it has waited for, when it was put off.
        var postponement: (any Postponement)?
    }

    /// Who owns it. The poller goes on watching a connection that was taken, because to change that costs a system call
    /// for each request.
    private enum Ownership: Int, AtomicRepresentable {
        case poller, taken
        /// Taken, and the poller has reported since that something has come.
        case takenAndReported
    }

    private let ownership = Atomic(Ownership.poller)

    /// A request that has arrived in part, or whole by way of the event thread, or that was put off. Nil while there is none.
    private let stored = Lock<Stored?>(nil)
    /// When the first byte must be there, in milliseconds of the monotonic clock; `.max` once it was.
    private let silenceDeadline: Atomic<Int64>

    init(_ number: Int32, silentUntil deadline: Int64) {
        self.number = number
        silenceDeadline = Atomic(deadline)
    }

    /// Lifts the deadline of the first byte: from now on the connection may be idle for as long as the web server likes.
    func hasSpoken() {
        silenceDeadline.store(.max, ordering: .relaxed)
    }

    /// Whether its first byte is still to come.
    fileprivate var isUnread: Bool { silenceDeadline.load(ordering: .relaxed) != .max }

    /// Whether the first byte is overdue; true once.
    fileprivate func isSilent(at now: Int64) -> Bool {
        guard silenceDeadline.load(ordering: .relaxed) <= now else { return false }
        silenceDeadline.store(.max, ordering: .relaxed)
        return true
    }

    /// Makes the thread to which the poller has reported it its owner.
    /// - Returns: false when it has one; that one finds out from `release()`.
    func take() -> Bool {
        while true {
            if change(from: .poller, to: .taken) { return true }
            // Not when it has been given back in between.
            if change(from: .taken, to: .takenAndReported) { return false }
            if ownership.load(ordering: .acquiring) == .takenAndReported { return false }
        }
    }

    private func change(from old: Ownership, to new: Ownership) -> Bool {
        ownership.compareExchange(expected: old, desired: new, ordering: .acquiringAndReleasing).exchanged
    }

    /// Not all that has come was looked at, and the poller has reported all of it.
    func noteUnread() { ownership.store(.takenAndReported, ordering: .releasing) }

    /// Gives it back to the poller.
    /// - Returns: false when something has come that the poller has reported already: then it is still taken.
    func release() -> Bool {
        let isReleased = change(from: .taken, to: .poller)
        if !isReleased { ownership.store(.taken, ordering: .releasing) }
        return isReleased
    }

    func store(_ buffer: ReceiveBuffer, _ postponement: (any Postponement)? = nil) {
        stored.withLock { $0 = Stored(buffer: buffer, postponement: postponement) }
    }

    func takeStored() -> Stored? {
        stored.withLock { stored in
            defer { stored = nil }
            return stored
        }
    }
}

/// All open connections by their descriptor. A connection is closed exactly once: by the thread that takes it out of here.
final class ConnectionTable: Sendable {
    private struct Table {
        /// At the index of its descriptor, which the system keeps as low as it can.
        var places: [Connection?] = []
        var count = 0

        subscript(number: Int32) -> Connection? {
            let index = Int(number)
            return places.indices.contains(index) ? places[index] : nil
        }

        /// Only where there is none.
        mutating func insert(_ connection: Connection) {
            let index = Int(connection.number)
            if places.count <= index { places.append(contentsOf: repeatElement(nil, count: index + 1 - places.count)) }
            places[index] = connection
            count += 1
        }

        /// - Returns: false when it is not there any more.
        mutating func remove(_ connection: Connection) -> Bool {
            guard self[connection.number] === connection else { return false }
            places[Int(connection.number)] = nil
            count -= 1
            return true
        }

        var all: some Sequence<Connection> { places.lazy.compactMap(\.self) }
    }

    private let table = Lock(Table())

    var count: Int { table.withLock { $0.count } }

    func insert(_ connection: Connection) {
        table.withLock { $0.insert(connection) }
    }

    subscript(number: Int32) -> Connection? {
        table.withLock { $0[number] }
    }

    func close(_ connection: Connection) {
        // Out of the table first: once closed, the number may come back with the next accept.
        guard table.withLock({ $0.remove(connection) }) else { return }
        Glibc.close(connection.number)
    }

    /// Whether there are some that have never sent a byte, and still may.
    var hasUnread: Bool { table.withLock { $0.all.contains(where: \.isUnread) } }

    /// Ends those that have never sent a byte and are out of time, so that the worker who then looks finds them closed.
    /// - Returns: how many there were.
    func endSilent(at now: Int64) -> Int {
        table.withLock { table in
            // A connection with an unread request waits for a worker; it is not silent.
            let silent = table.all.filter { $0.isSilent(at: now) && !platform_has_bytes($0.number) }
            // Under the lock, as long as the number is theirs.
            for connection in silent { shutdown(connection.number, Int32(SHUT_RDWR)) }
            return silent.count
        }
    }

    /// Closes all but those that workers still hold.
    func closeAll(except held: Set<Int32>) {
        let rest = table.withLock { Array($0.all.filter { !held.contains($0.number) }) }
        for connection in rest { close(connection) }
    }
}
