// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTPTypes
import Store
import Testing
import Text

/// Ids that are not the caller's: whose the registration is that they lead to, and that no caller gains by them.
struct AdoptionTests {
    @Test func `another user's id gives a registration of one's own and changes nothing of the other's`() throws {
        let site = try TestSite()
        let id = try site.register("alice", handle: TestSite.token(1))
        let before = try site.store.device(id)
        #expect(site.put(id, as: "bob", handle: TestSite.token(2)).status == .ok)
        #expect(try site.store.device(id) == before)
        try site.expectAgreement(on: id)
        let own = try #require(try site.store.devices(owner: "bob").first)
        #expect(own.id != id && own.alias == id)
        try site.expectAgreement(on: own.id)
        // To each of the two the id means their own.
        #expect(site.call(.delete, "/api/register/\(id)", as: "bob").status == .ok)
        #expect(try site.store.devices(owner: "bob").isEmpty)
        #expect(try site.store.device(id) == before)
        #expect(site.call(.delete, "/api/register/\(id)", as: "bob").status == .forbidden)
    }

    @Test func `the same unknown id of two users is a registration for each`() throws {
        let site = try TestSite()
        for (number, user) in ["alice", "bob"].enumerated() {
            #expect(site.put("1-2-3", as: user, handle: TestSite.token(number)).status == .ok)
        }
        #expect(site.call(.delete, "/api/register/1-2-3", as: "alice").status == .ok)
        #expect(try site.store.devices(owner: "alice").isEmpty)
        let device = try #require(try site.store.devices(owner: "bob").first)
        #expect(device.handle == TestSite.token(1))
        try site.expectAgreement(on: device.id)
    }

    @Test func `a registration that changes hands by its handle leaves its former user's name for it`() throws {
        let site = try TestSite()
        #expect(site.put("1-2-3", as: "alice", handle: TestSite.token(1)).status == .ok)
        let id = try #require(try site.store.devices(owner: "alice").first).id
        #expect(site.put(id, as: "bob", handle: TestSite.token(1)).status == .ok)
        #expect(try site.store.device(id)?.owner == "bob")
        #expect(try site.store.device(id)?.alias == nil)
        #expect(site.call(.delete, "/api/register/1-2-3", as: "alice").status == .ok)
        #expect(try site.expectAgreement(on: id)?.owner == "bob")
    }

    @Test func `unknown ids fill no more than one user's own share`() throws {
        let site = try TestSite()
        for number in 1...Quotas().devicesPerOwner {
            _ = try site.store.putDevice(
                DeviceRecord(
                    id: "8-\(number)", owner: "bob", platform: "apns", handle: TestSite.token(number),
                    updatedAt: Timestamp(seconds: site.clock.seconds)))
        }
        #expect(site.put("1-2-3", as: "bob", handle: TestSite.token(1_000)).status == .ok)
        #expect(try site.store.devices(owner: "bob").count == Quotas().devicesPerOwner)
        #expect(site.put("1-2-3", as: "alice", handle: TestSite.token(1_001)).status == .ok)
    }

    @Test func `what is too long to be remembered is 410`() throws {
        let site = try TestSite()
        let long = String(repeating: "7", count: 257)
        #expect(site.put(long, as: "alice", handle: TestSite.token(1)).status == .gone)
        #expect(try site.store.devices(owner: "alice").isEmpty)
        #expect(site.put(String(long.dropFirst()), as: "alice", handle: TestSite.token(1)).status == .ok)
    }

    @Test func `an adoption that the hub cut short is finished by the next try`() throws {
        let between = Interruption(.put, beforeHub: true)
        let site = try TestSite(surroundingHub: { between.surround($0) })
        between.arm { throw NoAnswer() }
        _ = site.put("1-2-3", as: "alice", handle: TestSite.token(1))
        #expect(site.put("1-2-3", as: "alice", handle: TestSite.token(1)).status == .ok)
        let devices = try site.store.devices(owner: "alice")
        #expect(devices.count == 1)
        try site.expectAgreement(on: try #require(devices.first).id)
    }
}
