// SPDX-License-Identifier: Apache-2.0
import JSON
import PostgresStore
import Store
import StoreContract
import Testing

@Suite struct `The store in a database` {
    @Test(arguments: [1, 16]) func `keeps the contract, over however many connections`(connections: Int) throws {
        let store = try Site().open {
            $0.connections = connections
            ($0.notificationsPerOwner, $0.devicesPerOwner, $0.sessionsPerOwner) = (5, 3, 3)
            ($0.sentPerOwner, $0.idempotencyKeysPerOwner) = (4, 4)
        }
        try Contract(store: store).runAll()
    }
}
