// SPDX-License-Identifier: Apache-2.0
import CPlatform
import System

/// The connections that have something to read, in the order in which they came, for whichever worker asks next.
final class ReadyConnections: Sendable {
    private struct Queue {
        var connections: [Connection] = []
        /// Of `connections`, the first that has not been taken.
        var first = 0

        mutating func next() -> Connection? {
            guard first < connections.count else { return nil }
            defer {
                first += 1
                if first == connections.count {
                    connections.removeAll(keepingCapacity: true)
                    first = 0
                }
            }
            return connections[first]
        }

        var isEmpty: Bool { first == connections.count }
    }

    /// How many a worker takes from the poller at once where it is the only one that waits there: all that it does not
    /// serve itself must be left to others as soon as it blocks.
    private static let batch = 64

    /// Watches the idle connections, each for bytes that come from now on.
    private let poller: Poller
    private let table: ConnectionTable
    private let batch: Int
    private let hasSeveralLeaders: Bool
    private let queue = Lock(Queue())
    /// Wakes a worker that waits in the poller: the queue has got a connection in another way.
    private let added: EventFD
    /// Signalled once, for all workers: the end.
    private let ended: EventFD

    /// - Parameters:
    ///   - table: where the connections are found that the poller reports.
    ///   - leaders: how many workers wait here at a time.
    /// - Throws: `ServerError.noDescriptor`.
    init(_ table: ConnectionTable, leaders: Int) throws(ServerError) {
        self.table = table
        hasSeveralLeaders = leaders > 1
        batch = hasSeveralLeaders ? 1 : Self.batch
        guard let poller = Poller() else { throw .noDescriptor("epoll_create1: \(numberedErrorText())") }
        guard let added = EventFD(), let ended = EventFD() else {
            throw .noDescriptor("eventfd: \(numberedErrorText())")
        }
        (self.poller, self.added, self.ended) = (poller, added, ended)
        guard poller.add(added.number, [.readable, .edge]), poller.add(ended.number, .readable) else {
            throw .noDescriptor("epoll_ctl: \(numberedErrorText())")
        }
    }

    /// Begins to watch a connection, for as long as it is open.
    /// - Returns: false when the system has no memory for it.
    func watch(_ connection: Connection) -> Bool { poller.add(connection.number, [.readable, .peerEnded, .edge]) }

    /// Takes the next connection for one worker; waits until there may be one.
    /// - Returns: nil at the end, and now and then.
    func next() -> Connection? {
        if let connection = takeFirst() { return connection }
        poller.wait(atMost: batch) { number, events in
            guard let connection = table[number], connection.take() else { return }
            // The end came with the last bytes, and will not be reported again.
            if events.contains(.peerEnded) { connection.noteUnread() }
            queue.withLock { $0.connections.append(connection) }
        }
        return takeFirst()
    }

    private func takeFirst() -> Connection? {
        let (connection, isLast) = queue.withLock { queue in (queue.next(), queue.isEmpty) }
        // Two that were added in a row may have woken one worker only.
        if !isLast, hasSeveralLeaders { added.signal() }
        return connection
    }

    /// Gives a connection that has been taken to the next worker.
    func add(_ connection: Connection) {
        queue.withLock { $0.connections.append(connection) }
        added.signal()
    }

    /// Wakes all that wait, from now on.
    func end() { ended.signal() }
}
