// SPDX-License-Identifier: Apache-2.0
import Store
import Testing

@Suite struct ContractTests {
    @Test(arguments: [128 << 10, 700, 1])
    func `the file store keeps the contract, whatever its buckets' size`(bucketBytes: Int) throws {
        let folder = try TemporaryFolder()
        let store = try folder.open {
            ($0.bucketBytes, $0.notificationsPerOwner, $0.devicesPerOwner) = (bucketBytes, 5, 3)
        }
        try Contract(store: store).runAll()
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
