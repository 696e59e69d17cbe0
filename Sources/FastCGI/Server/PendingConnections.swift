// SPDX-License-Identifier: Apache-2.0
import System

/// The connections that the event thread owns, each with a deadline: requests that arrive in pieces, and connections
/// that were told 413 and still send.
final class PendingConnections: Sendable {
    enum Reason: Sendable {
        /// Part of a request is there.
        case incomplete
        /// Answered and half closed: what still comes is thrown away, so that the answer is not lost to a reset.
        case lingering
    }

    private struct Place {
        let connection: Connection
        let reason: Reason
        /// What its buffer holds.
        var bytes: Int
        /// Milliseconds of the monotonic clock.
        let deadline: Int64
    }

    private struct Room {
        var places: [Int32: Place] = [:]
        /// What all buffers hold together.
        var bytes = 0

        mutating func remove(_ number: Int32) {
            bytes -= places.removeValue(forKey: number)?.bytes ?? 0
        }
    }

    private let room = Lock(Room())
    /// Bytes that all buffers may hold together.
    private let capacity: Int

    init(capacity: Int) {
        self.capacity = capacity
    }

    /// Requests that arrive in pieces.
    var incompleteCount: Int {
        room.withLock { $0.places.values.count { $0.reason == .incomplete } }
    }

    /// - Parameter bytes: what the connection's buffer holds.
    /// - Returns: false when there is no room for so much; then the connection is not in here.
    func enter(_ connection: Connection, _ reason: Reason, bytes: Int, deadline: Int64) -> Bool {
        room.withLock { room in
            guard bytes <= capacity - room.bytes else { return false }
            room.bytes += bytes
            room.places[connection.number] = Place(
                connection: connection, reason: reason, bytes: bytes, deadline: deadline)
            return true
        }
    }

    /// The connection's buffer has grown.
    /// - Returns: false when there is no room for it; then the connection must leave.
    func resize(_ connection: Connection, bytes: Int) -> Bool {
        room.withLock { room in
            let growth = bytes - (room.places[connection.number]?.bytes ?? 0)
            guard growth <= capacity - room.bytes else { return false }
            room.bytes += growth
            room.places[connection.number]?.bytes = bytes
            return true
        }
    }

    func find(_ number: Int32) -> (Connection, Reason)? {
        room.withLock { room in room.places[number].map { ($0.connection, $0.reason) } }
    }

    func leave(_ connection: Connection) {
        room.withLock { $0.remove(connection.number) }
    }

    /// Takes out those whose time is over.
    func overdue(at now: Int64) -> [(Connection, Reason)] {
        room.withLock { room in
            let late = room.places.values.filter { $0.deadline <= now }
            for place in late { room.remove(place.connection.number) }
            return late.map { ($0.connection, $0.reason) }
        }
    }
}
