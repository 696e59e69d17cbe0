// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import NotificationHub
import Testing

import class System.Lock

/// Calls that the hub heard only half of: when the device asks again, the rest is done.
struct SecondTryTests {
    /// Keeps the hub out of reach for one method, as long as it is on.
    private final class Outage: Sendable {
        private let method = Lock<HTTPRequest.Method?>(nil)

        func begin(_ method: HTTPRequest.Method) { self.method.withLock { $0 = method } }

        func end() { method.withLock { $0 = nil } }

        func surround(_ hub: any Responder) -> any Responder {
            ClosureResponder { [self] request in
                guard request.method != method.withLock(\.self) else { throw NoAnswer() }
                return try hub.respond(to: request)
            }
        }
    }

    @Test func `a deletion that did not reach the hub can be made again`() throws {
        let outage = Outage()
        let site = try TestSite(surroundingHub: { outage.surround($0) })
        let id = try site.register("alice")
        outage.begin(.delete)
        #expect(site.call(.delete, "/api/register/\(id)", as: "alice").status == .serviceUnavailable)
        outage.end()
        #expect(try site.store.device(id)?.owner == "alice")
        #expect(site.call(.delete, "/api/register/\(id)", as: "alice").status == .ok)
        #expect(try site.expectAgreement(on: id) == nil)
    }

    @Test func `a change of hands that did not reach the hub can be made again`() throws {
        let outage = Outage()
        let site = try TestSite(surroundingHub: { outage.surround($0) })
        let handle = TestSite.token(1)
        let id = try site.register("alice", handle: handle)
        outage.begin(.put)
        #expect(site.put(id, as: "bob", handle: handle).status == .serviceUnavailable)
        outage.end()
        #expect(site.put(id, as: "bob", handle: handle).status == .ok)
        #expect(try site.expectAgreement(on: id)?.owner == "bob")
    }

    @Test func `a double that could not be removed is removed when the device asks again`() throws {
        let outage = Outage()
        let site = try TestSite(surroundingHub: { outage.surround($0) })
        let handle = TestSite.token(1)
        let former = try site.register("alice", handle: handle)
        site.clock.advance(1)
        let id = try site.newID("bob")
        outage.begin(.delete)
        #expect(site.put(id, as: "bob", handle: handle).status == .serviceUnavailable)
        outage.end()
        #expect(site.put(id, as: "bob", handle: handle).status == .ok)
        // Otherwise what is sent to alice appears on bob's device.
        #expect(try site.hubClient.registrations(channel: handle).map { $0.id?.description } == [id])
        #expect(try site.expectAgreement(on: former) == nil)
    }

    @Test(arguments: [true, false])
    func `a double that is registered again while it is removed is in both places or in neither`(
        isBeforeHub: Bool
    ) throws {
        let between = Interruption(.delete, beforeHub: isBeforeHub)
        // What comes in between cannot wait for what it has interrupted.
        let site = try TestSite(
            adjusting: { $0.registrationWaitSeconds = 0 }, surroundingHub: { between.surround($0) })
        let handle = TestSite.token(1)
        let former = try site.register("alice", handle: handle)
        site.clock.advance(1)
        let id = try site.newID("bob")
        between.arm { [unowned site] in _ = site.put(former, as: "alice", handle: handle) }
        let status = site.put(id, as: "bob", handle: handle).status
        #expect([200, 410, 503].contains(status.code))
        for id in [former, id] { try site.expectAgreement(on: id) }
    }
}
