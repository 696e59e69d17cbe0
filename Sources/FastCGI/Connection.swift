// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// One connection of the web server.
///
/// It has one owner at any time: the workers' poller (armed for one thread), the worker that took it from there, or the
/// event thread while a request arrives in pieces. Only its owner touches the descriptor or closes it.
final class Connection: Sendable {
    let number: Int32
    /// A request that has arrived in part, or whole by way of the event thread. Nil while there is none.
    private let stored = Mutex<Inbox?>(nil)

    init(_ number: Int32) {
        self.number = number
    }

    func store(_ inbox: Inbox) {
        stored.withLock { $0 = inbox }
    }

    func takeStored() -> Inbox? {
        stored.withLock { inbox in
            defer { inbox = nil }
            return inbox
        }
    }
}

/// All open connections by their descriptor. A connection is closed exactly once: by whoever takes it out of here.
final class ConnectionTable: Sendable {
    private let table = Mutex<[Int32: Connection]>([:])

    var count: Int { table.withLock { $0.count } }

    func insert(_ connection: Connection) {
        table.withLock { $0[connection.number] = connection }
    }

    subscript(number: Int32) -> Connection? {
        table.withLock { $0[number] }
    }

    func close(_ connection: Connection) {
        // Out of the table first: once closed, the number may come back with the next accept.
        guard table.withLock({ $0.removeValue(forKey: connection.number) }) != nil else { return }
        Glibc.close(connection.number)
    }

    /// Closes all but those that workers still hold.
    func closeAll(except held: Set<Int32>) {
        let rest = table.withLock { $0.values.filter { !held.contains($0.number) } }
        for connection in rest { close(connection) }
    }
}
