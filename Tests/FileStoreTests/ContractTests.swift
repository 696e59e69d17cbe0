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
        try WaitingContract(store: store).run()
        // The right to deliver messages is another.
        let delivery = try store.acquireDeliveryLease()
        #expect(try delivery != nil && store.acquireLease(of: .webhookEvents) != nil)
    }

    @Test func `a sample of each kind of record has a value in every field`() {
        FieldContract.samples()
    }

    @Test func `the file store keeps every field of every record`() throws {
        let folders = [try TemporaryFolder(), try TemporaryFolder()]
        try FieldContract.transfer(to: folders[0].open())
        try FieldContract.calls(of: folders[1].open())
    }

    @Test func `devices that are gone are noted, and forgotten after thirty days`() throws {
        let folder = try TemporaryFolder()
        try GoneDeviceContract(store: folder.open()).run()
    }

    @Test func `what an older process registers for keys is moved by the sweep`() throws {
        let folder = try TemporaryFolder()
        try NamespaceContract(store: folder.open()).run()
        #expect(try folder.open().verify(now: noon).isWhole)
    }

    @Test func `the stores in memory keep every field of their records`() throws {
        let (hub, sessions) = (
            MemoryHubStore(), MemorySessionStore(sessionsPerOwner: 3, sentPerOwner: 4, openersPerMessage: 3)
        )
        try FieldContract.hub(hub)
        try FieldContract.queue(hub)
        try FieldContract.sessions(sessions)
        try FieldContract.sends(sessions)
        try FieldContract.keys(MemoryIdempotencyStore(keysPerOwner: 4))
    }

    @Test func `events that wait for webhooks are bounded, and what has gone makes room`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open { ($0.bucketBytes, $0.quotas.webhookBytes) = (1_000, 10_000) }
        func event(_ number: Int) -> HubMessage {
            let text = String(repeating: "x", count: 500)
            return HubMessage(id: "e-\(number)", document: .string(text), createdAt: noon, expiresAt: nextDay)
        }
        #expect(throws: StoreError.quotaExceeded) {
            for number in 0..<100 { try store.putWaiting([event(number)], in: .webhookEvents) }
        }
        let kept = try store.waiting(in: .webhookEvents).count
        #expect((10..<40).contains(kept))
        // What waits already may still change.
        for _ in 0..<9 { try store.putWaiting([event(0)], in: .webhookEvents) }
        #expect(throws: StoreError.quotaExceeded) {
            try store.putWaiting([event(0), event(1_000)], in: .webhookEvents)
        }
        #expect(try store.waiting(in: .webhookEvents).count == kept)
        try store.removeWaiting((0..<kept).map { "e-\($0)" }, from: .webhookEvents)
        for number in 0..<200 {
            try store.putWaiting([event(number)], in: .webhookEvents)
            try store.removeWaiting(["e-\(number)"], from: .webhookEvents)
        }
        try store.putWaiting([event(7)], in: .webhookEvents)
        #expect(try folder.open().waiting(in: .webhookEvents) == [event(7)])
    }

    @Test func `of all openings together so many are kept as fill the files`() throws {
        let folder = try TemporaryFolder()
        // One a file.
        let store = try folder.open { $0.quotas.openings = 256 }
        for number in 0..<1_000 {
            let opening = MessageOpening(opener: "o", message: "m-\(number)", expiresAt: nextDay)
            #expect(try store.noteOpening(opening, now: noon))
        }
        _ = try store.sweep(budget: 100_000, now: noon)
        let left = try (0..<1_000).filter { try store.openings(ofMessage: "m-\($0)", now: noon) > 0 }
        #expect((1...256).contains(left.count) && left.contains(999))
    }

    @Test func `the store of the hub's tests keeps the contract too`() throws {
        try HubContract(store: MemoryHubStore()).runAll()
    }

    @Test func `an owner's payloads are bounded in bytes`() throws {
        let folder = try TemporaryFolder()
        try QuotaContract(store: folder.open { $0.quotas.notificationBytesPerOwner = 20_000 }).run()
    }

    @Test func `of what all users share no user takes more than their share`() throws {
        let folder = try TemporaryFolder()
        try SharedRoomContract(store: folder.open { SharedRoomContract.shrink(&$0.quotas) }).run()
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
