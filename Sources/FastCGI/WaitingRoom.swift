// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The connections that the event thread owns, each with a deadline: requests that arrive in pieces, and connections
/// that were told 413 and still send.
final class WaitingRoom: Sendable {
    enum Reason: Sendable {
        /// Part of a request is there.
        case incomplete
        /// Answered and half closed: what still comes is thrown away, so that the answer is not lost to a reset.
        case lingering
    }

    private struct Place {
        let connection: Connection
        let reason: Reason
        /// Milliseconds of the monotonic clock.
        let deadline: Int64
    }

    private let places = Mutex<[Int32: Place]>([:])

    /// Requests that arrive in pieces.
    var incompleteCount: Int {
        places.withLock { $0.values.count { $0.reason == .incomplete } }
    }

    func enter(_ connection: Connection, _ reason: Reason, deadline: Int64) {
        places.withLock {
            $0[connection.number] = Place(connection: connection, reason: reason, deadline: deadline)
        }
    }

    func find(_ number: Int32) -> (Connection, Reason)? {
        places.withLock { places in places[number].map { ($0.connection, $0.reason) } }
    }

    func leave(_ connection: Connection) {
        _ = places.withLock { $0.removeValue(forKey: connection.number) }
    }

    /// Takes out those whose time is over.
    func overdue(at now: Int64) -> [(Connection, Reason)] {
        places.withLock { places in
            let late = places.values.filter { $0.deadline <= now }
            for place in late { places.removeValue(forKey: place.connection.number) }
            return late.map { ($0.connection, $0.reason) }
        }
    }
}
