// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import Foundation
import HTTP
import HTTPTypes
import NotificationHub
import Synchronization
import Testing

import class System.Lock

/// Registrations that are changed by several at once. However the calls fall between one another, the hub ends up
/// with what the store says.
struct RaceTests {
    /// Enough for the calls to fall differently; each round is some milliseconds.
    static let rounds = 25

    /// Makes all calls at the same moment, each on a thread of its own.
    /// - Returns: their statuses, in the order of the calls.
    private func race(_ calls: [@Sendable () -> Response]) -> [Int] {
        let statuses = Lock([Int](repeating: 0, count: calls.count))
        let start = DispatchSemaphore(value: 0)
        let finished = DispatchGroup()
        for (index, call) in calls.enumerated() {
            finished.enter()
            Thread.detachNewThread {
                start.wait()
                let status = call().status.code
                statuses.withLock { $0[index] = status }
                finished.leave()
            }
        }
        for _ in calls { start.signal() }
        finished.wait()
        return statuses.withLock(\.self)
    }

    @Test func `two users who race for one id leave it to the one whom the store names`() throws {
        let site = try TestSite()
        let handle = TestSite.token(1)
        let id = try site.register("alice", handle: handle)
        for _ in 0..<Self.rounds {
            let statuses = race(["alice", "bob"].map { user in { site.put(id, as: user, handle: handle) } })
            #expect(statuses == [200, 200])
            try site.expectAgreement(on: id)
        }
    }

    @Test func `an update and a deletion at once leave a registration in both places or in neither`() throws {
        let site = try TestSite()
        for number in 1...Self.rounds {
            let handle = TestSite.token(number)
            let id = try site.register("alice", handle: handle)
            let statuses = race([
                { site.put(id, as: "alice", handle: handle) },
                { site.call(.delete, "/api/register/\(id)", as: "alice") },
            ])
            #expect([200, 410].contains(statuses[0]) && [200, 503].contains(statuses[1]), "\(statuses)")
            let record = try site.expectAgreement(on: id)
            // After an answer that it is deleted, it is deleted: an id that is gone does not come back.
            if statuses[1] == 200 { #expect(record == nil, "\(statuses)") }
        }
    }

    @Test func `two users who register one handle under two ids at once leave one registration of it`() throws {
        let site = try TestSite()
        for number in 1...Self.rounds {
            let handle = TestSite.token(number)
            let ids = try ["alice", "bob"].map { try site.newID($0) }
            let statuses = race(
                zip(ids, ["alice", "bob"]).map { id, user in { site.put(id, as: user, handle: handle) } })
            for id in ids { try site.expectAgreement(on: id) }
            #expect(statuses.allSatisfy { [200, 410, 503].contains($0) }, "\(statuses)")
            #expect(statuses.contains(200), "\(statuses)")
            guard !statuses.contains(503) else { continue }
            #expect(try site.hubClient.registrations(channel: handle).count == 1, "\(statuses)")
        }
    }

    @Test(arguments: [true, false])
    func `of two ids for one handle within the same second one stays`(greaterFirst: Bool) throws {
        let site = try TestSite()
        let handle = TestSite.token(1)
        let users = ["alice", "bob"]
        let pairs = try users.map { (user: $0, id: try site.newID($0)) }
            .sorted { greaterFirst ? $0.id > $1.id : $0.id < $1.id }
        var accepted: [String] = []
        for pair in pairs where site.put(pair.id, as: pair.user, handle: handle).status == .ok {
            accepted.append(pair.id)
        }
        let left = try site.hubClient.registrations(channel: handle).compactMap { $0.id?.description }
        #expect(left.count == 1)
        #expect(left.allSatisfy { accepted.contains($0) })
        for pair in pairs { try site.expectAgreement(on: pair.id) }
    }

    @Test(arguments: [["alice", "bob"], ["alice", "alice"]])
    func `two processes that register one handle at once leave it one owner`(users: [String]) throws {
        let site = try TestSite()
        // Each would go wrong about every second time.
        for number in 1...8 {
            let handle = TestSite.token(number)
            let ids = try users.map { try site.newID($0) }
            let statuses = race([
                { site.put(ids[0], as: users[0], handle: handle) },
                { site.put(ids[1], as: users[1], handle: handle, on: site.twin) },
            ])
            for id in ids { try site.expectAgreement(on: id) }
            #expect(statuses.contains(200) && statuses.allSatisfy { [200, 410].contains($0) }, "\(statuses)")
            #expect(try site.hubClient.registrations(channel: handle).count == 1, "\(statuses)")
        }
    }

    @Test(arguments: [true, false])
    func `a process that comes between another and its look at the handle leaves it one owner`(isBefore: Bool) throws {
        let between = Interruption(.get, beforeHub: isBefore)
        let site = try TestSite(surroundingHub: { between.surround($0) })
        let handle = TestSite.token(1)
        let ids = try ["alice", "bob"].map { try site.newID($0) }
        let inner = Atomic(0)
        between.arm { [unowned site] in
            inner.store(site.put(ids[1], as: "bob", handle: handle, on: site.twin).status.code, ordering: .relaxed)
        }
        #expect(site.put(ids[0], as: "alice", handle: handle).status.code == 410)
        #expect(inner.load(ordering: .relaxed) == 200)
        #expect(try site.hubClient.registrations(channel: handle).map { $0.id?.description } == [ids[1]])
        for id in ids { try site.expectAgreement(on: id) }
    }

    /// A moment in one call to the hub at which another request comes in between, and is answered.
    struct Moment: CustomTestStringConvertible, Sendable {
        /// The request that is interrupted, and the one that comes in between.
        let outer: HTTPRequest.Method
        let inner: HTTPRequest.Method
        let isBeforeHub: Bool

        var testDescription: String { "\(inner) \(isBeforeHub ? "before" : "after") the hub hears of \(outer)" }
    }

    static let moments = [true, false].flatMap { isBeforeHub in
        [(.put, .delete), (.delete, .put), (.put, .put), (.delete, .delete)].map {
            (outer: HTTPRequest.Method, inner: HTTPRequest.Method) in
            Moment(outer: outer, inner: inner, isBeforeHub: isBeforeHub)
        }
    }

    @Test(arguments: moments) func `a request that comes between another and the hub leaves both of one mind`(
        moment: Moment
    ) throws {
        let between = Interruption(moment.outer, beforeHub: moment.isBeforeHub)
        // What comes in between cannot wait for what it has interrupted.
        let site = try TestSite(
            adjusting: { $0.registrationWaitSeconds = 0 }, surroundingHub: { between.surround($0) })
        let handle = TestSite.token(1)
        let id = try site.register("alice", handle: handle)
        let call = { @Sendable [unowned site] (method: HTTPRequest.Method) in
            method == .put
                ? site.put(id, as: "alice", handle: handle).status.code
                : site.call(.delete, "/api/register/\(id)", as: "alice").status.code
        }
        let inner = Atomic(0)
        between.arm { inner.store(call(moment.inner), ordering: .relaxed) }
        let outer = call(moment.outer)
        let statuses = "\(outer), in between \(inner.load(ordering: .relaxed))"
        #expect([200, 410, 503].contains(outer), "\(statuses)")
        #expect([200, 410, 503].contains(inner.load(ordering: .relaxed)), "\(statuses)")
        try site.expectAgreement(on: id, "\(statuses)")
    }
}
