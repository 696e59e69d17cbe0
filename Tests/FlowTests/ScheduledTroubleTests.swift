// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import HTTP
import HTTPTypes
import JSON
import NotificationHub
import Store
import Support
import Synchronization
import Testing
import Text

/// Messages for later at whose time something goes wrong.
struct ScheduledTroubleTests {
    private let scene = ScheduledScene()

    @Test func `while the hub refuses it is tried each minute, and its sender may take it back`() throws {
        let site = try scene.site()
        let (id, other) = (try scene.schedule(at: site), try scene.schedule(at: site))
        scene.hub.trouble.store(.refusing, ordering: .relaxed)
        site.clock.advance(60)
        #expect(try site.sendDue() <= .seconds(10))
        #expect(try scene.inboxCount(at: site) == 0)
        #expect(try Set(site.scheduled()) == [id, other])
        #expect(site.call(.delete, "\(Path.scheduled)/\(other)", as: "bob").status == .ok)
        scene.hub.trouble.store(.none, ordering: .relaxed)
        // Not before a minute is over.
        site.clock.advance(59)
        _ = try site.sendDue()
        #expect(try scene.inboxCount(at: site) == 0)
        site.clock.advance(1)
        _ = try site.sendDue()
        #expect(try scene.inboxCount(at: site) == 1)
        #expect(try MessageTimeline(site.timeline(id)).outcomes.map(\.state) != ["Abandoned"])
        #expect(try site.store.waiting(in: .sends).isEmpty)
    }

    @Test(arguments: [false, true])
    func `where the hub may have it or not it is not sent again, and the inbox has it`(secure: Bool) throws {
        let site = try scene.site()
        let id = try scene.schedule(at: site, secure: secure)
        scene.hub.trouble.store(.silent, ordering: .relaxed)
        site.clock.advance(60)
        _ = try site.sendDue()
        #expect(try site.store.waiting(in: .sends).isEmpty)
        let timeline = try MessageTimeline(site.timeline(id))
        #expect(
            try timeline.outcomes.map(\.state) == ["Abandoned"] && timeline.isKept && scene.inboxCount(at: site) == 1)
    }

    @Test func `a secure message that the hub refuses at first is kept once for each, and pushed later`() throws {
        let site = try scene.site()
        let message = PushMessage(
            to: .several(["alice", "carol"]), body: "47 11", isSecure: true, platforms: ["apns"], sendAt: site.time(60))
        let id = try #require(try SendOutcome(site.send(message)).messageID)
        scene.hub.trouble.store(.refusing, ordering: .relaxed)
        site.clock.advance(60)
        for _ in 0..<3 {
            _ = try site.sendDue()
            site.clock.advance(60)
        }
        scene.hub.trouble.store(.none, ordering: .relaxed)
        _ = try site.sendDue()
        for name in ["alice", "carol"] {
            #expect(try Inbox(site.call(.get, Path.inbox, as: name)).messages.count == 1)
        }
        let timeline = try MessageTimeline(site.timeline(id))
        #expect(timeline.outcomes.count == 2 && timeline.outcomes.allSatisfy { $0.state != "Abandoned" })
    }

    @Test func `after an hour without a hub it is given up`() throws {
        let site = try scene.site()
        let id = try scene.schedule(at: site)
        scene.hub.trouble.store(.refusing, ordering: .relaxed)
        // The hour begins with the first try.
        site.clock.advance(7_200)
        for _ in 0..<60 {
            _ = try site.sendDue()
            #expect(try site.scheduled() == [id])
            site.clock.advance(60)
        }
        _ = try site.sendDue()
        #expect(try site.store.waiting(in: .sends).isEmpty)
        #expect(try MessageTimeline(site.timeline(id)).outcomes.map(\.state) == ["Abandoned"])
        #expect(try scene.inboxCount(at: site) == 0)
    }

    @Test func `a device that is gone since is no reason not to send`() throws {
        let site = try scene.site()
        let own = try site.register("bob", handle: TestSite.token(3))
        let message = PushMessage(
            to: "alice", body: "Hi", platforms: ["apns"], fromDevice: own, sendAt: site.time(60))
        let id = try #require(try SendOutcome(site.send(message)).messageID)
        #expect(site.call(.delete, "\(Path.register)/\(own)", as: "bob").status == .ok)
        site.clock.advance(60)
        _ = try site.sendDue()
        #expect(try scene.inboxCount(at: site) == 1)
        #expect(try MessageTimeline(site.timeline(id)).outcomes.map(\.state) != ["Abandoned"])
    }

    @Test func `what another version has written beside stays, and changes nothing`() throws {
        let site = try scene.site()
        _ = try scene.schedule(at: site)
        let entry = try #require(try site.store.waiting(in: .sends).first)
        try site.store.removeWaiting([entry.id], from: .sends)
        let document = JSONValue.object((entry.document.members ?? []) + [.init("zone", .string("UTC"))])
        // Its time was moved by hand, too.
        try site.store.putWaiting(
            [HubMessage(id: entry.id, document: document, createdAt: entry.createdAt, expiresAt: entry.expiresAt + 60)],
            in: .sends)
        scene.hub.trouble.store(.refusing, ordering: .relaxed)
        site.clock.advance(60)
        #expect(try site.sendDue() == .seconds(10))
        #expect(try site.store.waiting(in: .sends).first?.document["zone"]?.string == "UTC")
        #expect(site.call(.delete, "\(Path.scheduled)/\(entry.id)", as: "bob").status == .ok)
        #expect(try site.store.waiting(in: .sends).isEmpty)
    }

    @Test func `a service that was away for less than a day sends it late, and later not at all`() throws {
        for (seconds, isSent) in [(86_400 + 59, true), (86_400 + 60, false)] {
            let site = try scene.site()
            let id = try scene.schedule(at: site)
            site.clock.advance(Int64(seconds))
            _ = try site.sendDue()
            #expect(try scene.inboxCount(at: site) == (isSent ? 1 : 0))
            #expect(site.timeline(id).status == .ok)
            #expect(try site.store.waiting(in: .sends).isEmpty)
        }
    }

    /// The entry as a process leaves it that is killed while it sends it.
    private func begun(_ entry: HubMessage, at site: TestSite) -> HubMessage {
        let members = [
            JSONValue.Member("begun", .bool(true)), JSONValue.Member("dueAt", .string(site.time(300))),
            JSONValue.Member("triedAt", .string(site.time(0))),
        ]
        var begun = entry
        begun.document = .object((entry.document.members ?? []) + members)
        return begun
    }

    @Test(arguments: [false, true])
    func `a process that is killed at that moment leaves it to the next, and the inbox has it once`(secure: Bool) throws
    {
        let site = try scene.site()
        let id = try scene.schedule(at: site, secure: secure)
        let entry = try #require(try site.store.waiting(in: .sends).first)
        site.clock.advance(60)
        let now = Timestamp(seconds: site.clock.seconds)
        try site.store.putWaiting([begun(entry, at: site)], in: .sends)
        // It had come so far.
        _ = try site.store.createNotification(
            token: id, owner: "alice", sender: "bob", payload: "Hi", isPlain: !secure, now: now, expiresAt: now + 86_400
        )
        #expect(try site.scheduled().isEmpty)
        #expect(site.call(.delete, "\(Path.scheduled)/\(id)", as: "bob").status == .notFound)
        site.clock.advance(299)
        #expect(try site.sendDue() == .seconds(1))
        #expect(site.hub.messages.isEmpty)
        site.clock.advance(1)
        _ = try site.sendDue()
        #expect(try site.hub.messages.count == 1 && scene.inboxCount(at: site) == 1)
        #expect(try site.store.waiting(in: .sends).isEmpty)
        #expect(site.timeline(id).status == .ok)
    }

    @Test func `what a process has sent that was killed behind it is not sent again`() throws {
        let site = try scene.site()
        _ = try scene.schedule(at: site)
        let entry = try #require(try site.store.waiting(in: .sends).first)
        site.clock.advance(60)
        _ = try site.sendDue()
        try site.store.putWaiting([begun(entry, at: site)], in: .sends)
        site.clock.advance(300)
        // Another process: this one knows that it is done with it.
        _ = try site.twin.scheduledSender.sendDue()
        #expect(try site.hub.messages.count == 1 && site.store.waiting(in: .sends).isEmpty)
    }

    @Test(arguments: [false, true])
    func `a secret that the hub has refused is in no inbox when it is taken back or given up`(isGivenUp: Bool) throws {
        let site = try scene.site()
        let id = try scene.schedule(at: site, secure: true)
        scene.hub.trouble.store(.refusing, ordering: .relaxed)
        site.clock.advance(60)
        _ = try site.sendDue()
        #expect(try scene.inboxCount(at: site) == 0)
        if isGivenUp {
            site.clock.advance(3_600)
            _ = try site.sendDue()
        } else {
            #expect(site.call(.delete, "\(Path.scheduled)/\(id)", as: "bob").status == .ok)
        }
        #expect(try scene.inboxCount(at: site) == 0)
        #expect(try site.store.waiting(in: .sends).isEmpty)
    }

    @Test func `one that was tried is not sent a day later`() throws {
        let site = try scene.site()
        let id = try scene.schedule(at: site)
        scene.hub.trouble.store(.refusing, ordering: .relaxed)
        site.clock.advance(60)
        _ = try site.sendDue()
        scene.hub.trouble.store(.none, ordering: .relaxed)
        site.clock.advance(86_400)
        _ = try site.sendDue()
        #expect(try scene.inboxCount(at: site) == 0)
        #expect(try MessageTimeline(site.timeline(id)).outcomes.map(\.state) == ["Abandoned"])
    }

    @Test func `a text that is too long for one platform is tried again for the others`() throws {
        let site = try scene.site()
        let message = PushMessage(
            to: "alice", body: String(repeating: "a", count: 4_500), platforms: ["apns", "wns"], sendAt: site.time(60))
        let id = try #require(try SendOutcome(site.send(message)).messageID)
        scene.hub.trouble.store(.refusing, ordering: .relaxed)
        site.clock.advance(60)
        _ = try site.sendDue()
        #expect(try site.scheduled() == [id])
        scene.hub.trouble.store(.none, ordering: .relaxed)
        site.clock.advance(60)
        _ = try site.sendDue()
        #expect(try MessageTimeline(site.timeline(id)).outcomes.map(\.state).first == "Abandoned")
        #expect(try site.scheduled().isEmpty && scene.inboxCount(at: site) == 1)
    }

    @Test func `what the store cannot take from the list is not sent again`() throws {
        let trouble = Atomic(true)
        let site = try scene.site { parts in
            parts.schedule = SendSchedule(store: StickyList(inner: parts.store) { trouble.load(ordering: .relaxed) })
        }
        _ = try scene.schedule(at: site)
        site.clock.advance(60)
        for _ in 0..<3 {
            #expect(throws: StoreError.full) { try site.sendDue() }
            site.clock.advance(300)
        }
        #expect(try site.store.waiting(in: .sends).count == 1)
        trouble.store(false, ordering: .relaxed)
        _ = try site.sendDue()
        #expect(try site.store.waiting(in: .sends).isEmpty)
        #expect(try site.hub.messages.count == 1 && scene.inboxCount(at: site) == 1)
    }

    @Test func `of two processes at once one sends it`() throws {
        let site = try scene.site()
        for _ in 0..<8 { _ = try scene.schedule(at: site) }
        site.clock.advance(60)
        let senders = [site.backend, site.twin].map { backend in
            Background {
                while try !site.store.waiting(in: .sends).isEmpty { _ = try backend.scheduledSender.sendDue() }
            }
        }
        for sender in senders { try sender.outcome(seconds: 120) }
        #expect(try scene.inboxCount(at: site) == 8)
        #expect(site.hub.messages.count == 8)
    }

    @Test func `the thread sends what is put in, and ends when it is stopped`() throws {
        let site = try scene.site()
        let sender = site.backend.scheduledSender
        let thread = Background { sender.run() }
        _ = try scene.schedule(at: site)
        site.clock.advance(60)
        // It looks when one more is put in.
        _ = try scene.schedule(at: site)
        #expect(Deadline.poll(seconds: 60) { site.hub.messages.count == 1 })
        sender.loop.stop()
        try thread.outcome(seconds: 60)
        #expect(try site.scheduled().count == 1)
    }
}

/// A list that nothing can be taken from for a while.
private struct StickyList: WaitingStore {
    let inner: any WaitingStore
    let isTroubled: @Sendable () -> Bool

    func putWaiting(_ entries: [HubMessage], in list: WaitingList) throws(StoreError) {
        try inner.putWaiting(entries, in: list)
    }

    func waiting(in list: WaitingList, except ids: Set<String>) throws(StoreError) -> [HubMessage] {
        try inner.waiting(in: list, except: ids)
    }

    func waiting(in list: WaitingList, of owner: String) throws(StoreError) -> [HubMessage] {
        try inner.waiting(in: list, of: owner)
    }

    func waitingEntry(_ id: String, in list: WaitingList) throws(StoreError) -> HubMessage? {
        try inner.waitingEntry(id, in: list)
    }

    func removeWaiting(_ ids: [String], from list: WaitingList) throws(StoreError) {
        if isTroubled() { throw .full }
        try inner.removeWaiting(ids, from: list)
    }

    func changeWaiting(
        _ entry: HubMessage, to new: HubMessage?, in list: WaitingList
    ) throws(StoreError) -> Bool {
        try inner.changeWaiting(entry, to: new, in: list)
    }

    func acquireLease(of list: WaitingList) throws(StoreError) -> DeliveryLease? { try inner.acquireLease(of: list) }
}
