// SPDX-License-Identifier: Apache-2.0
import AppBackend
import HTTPTypes
import Store
import Testing
import Text

/// Names that Unicode calls equal, of a store in which an older version has let them in.
@Suite struct EqualNamesTests {
    private static let names = ["\u{F900}x", "\u{8C48}x"]

    @Test func `one of two equal names does not own what is the other's`() throws {
        let site = try TestSite(users: ["alice"])
        #expect(Self.names[0] == Self.names[1])
        for name in Self.names {
            _ = try site.store.putUser(User(name: name, passwordHash: try PasswordHash.make("\(name)-secret")))
        }
        let now = Timestamp(seconds: site.clock.seconds)
        for (index, name) in Self.names.enumerated() {
            _ = try site.store.putDevice(
                DeviceRecord(
                    id: "1-\(index)", owner: name, platform: "apns", handle: TestSite.token(index), updatedAt: now))
        }
        // The name in form C is a user's, and the other is no user's any more.
        let (old, name) = (Self.names[0], Self.names[1])
        #expect(site.call(.get, "/api/register", as: old).status == .unauthorized)
        #expect(try site.registrations(of: name).map { $0["RegistrationId"]?.string } == ["1-1"])
        #expect(site.call(.delete, "/api/register/1-0", as: name).status == .forbidden)
        // Adopted: the name's user gets a registration of their own for that id, and the other's stays as it is.
        #expect(site.put("1-0", as: name, handle: TestSite.token(5)).status == .ok)
        let registered = try site.registrations(of: name).compactMap { $0["RegistrationId"]?.string }
        #expect(registered.count == 2 && !registered.contains("1-0"))
        #expect(try site.store.device("1-0")?.handle == TestSite.token(0))
        #expect(try site.store.device("1-0")?.owner.hasSameBytes(as: old) == true)
        // A user who is in the store can be listed and removed, whatever the name.
        #expect(try site.store.users().count { $0.name == name } == 2)
        #expect(try site.upkeep().remove(old)?.devices == 1)
        #expect(try site.store.users().count { $0.name == name } == 1)
        #expect(try site.store.device("1-0") == nil && site.store.device("1-1") != nil)
    }
}
