// SPDX-License-Identifier: Apache-2.0
import FileStore
import Store
import StoreContract
import Support
import Testing

@Suite struct ContractTests {
    @Test(arguments: [128 << 10, 700, 1])
    func `the file store keeps the contract, whatever its buckets' size`(bucketBytes: Int) throws {
        let folder = try TemporaryFolder()
        let store = try folder.open {
            ($0.bucketBytes, $0.quotas.notificationsPerOwner, $0.quotas.devicesPerOwner) = (bucketBytes, 5, 3)
            ($0.quotas.sessionsPerOwner, $0.quotas.sentPerOwner, $0.quotas.idempotencyKeysPerOwner) = (3, 4, 4)
            ($0.quotas.appTokensPerOwner, $0.quotas.plainMessagesPerOwner) = (3, 3)
            $0.quotas.openersPerMessage = 3
        }
        try Contract(store: store).runAll()
    }

    @Test func `the store of the hub's tests keeps the contract too`() throws {
        try HubContract(store: MemoryHubStore()).runAll()
    }

    @Test func `an owner's payloads are bounded in bytes`() throws {
        let folder = try TemporaryFolder()
        try QuotaContract(store: folder.open { $0.quotas.notificationBytesPerOwner = 20_000 }).run()
    }

    @Test func `the store of sessions in memory keeps the contract too`() throws {
        try SessionContract(store: MemorySessionStore(sessionsPerOwner: 3, sentPerOwner: 4, openersPerMessage: 3))
            .runAll()
    }

    @Test func `the store of idempotency keys in memory keeps the contract too`() throws {
        try IdempotencyContract(store: MemoryIdempotencyStore(keysPerOwner: 4)).runAll()
    }

    @Test func `a record that is made again counts on, so that an old version never fits it`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open()
        let device = try store.putDevice(DeviceRecord(id: "d", owner: "dan", updatedAt: noon))
        #expect(try store.removeDevice("d", version: 1))
        let again = try store.putDevice(DeviceRecord(id: "d", owner: "eve", updatedAt: noon))
        #expect(again.version == 2)
        #expect(throws: StoreError.conflict) { try store.putDevice(device) }
        let user = try store.putUser(User(name: "dan", passwordHash: "x"))
        #expect(try store.removeUser("dan"))
        #expect(try store.putUser(User(name: "dan", passwordHash: "y")).version == 2)
        #expect(throws: StoreError.conflict) { try store.putUser(user) }
    }

    @Test func `what one store wrote another reads after a restart and a sweep`() throws {
        let folder = try TemporaryFolder()
        let made = try folder.open().createNotification(owner: "bob", payload: "p", now: noon, expiresAt: nextDay)
        let store = try folder.open()
        #expect(try store.notification(made.id, owner: "bob", now: noon) == made)
        _ = try store.sweep(budget: 10_000, now: noon)
        #expect(try store.notification(made.id, owner: "bob", now: noon) == made)
    }
}
