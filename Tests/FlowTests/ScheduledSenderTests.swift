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

/// The outcome of a message for later, when something has changed until its time or goes wrong then.
struct ScheduledSenderTests {
    private let hub = TroubledHub()

    private func site(_ adjust: (inout Backend.Parts) -> Void = { _ in }) throws -> TestSite {
        try TestSite(
            users: ["alice", "bob", "carol"],
            adjusting: {
                $0.plainSeconds = 30 * 86_400
                adjust(&$0)
            }, surroundingHub: hub.surround)
    }

    /// One of bob's for alice, in a minute.
    /// - Returns: its id.
    private func schedule(at site: TestSite, secure: Bool = false, fields: HTTPFields = [:]) throws -> String {
        let message = PushMessage(
            to: "alice", body: "Hi", isSecure: secure, platforms: ["apns"], sendAt: site.time(60))
        return try #require(try SendOutcome(site.send(message, fields: fields)).messageID)
    }

    private func inboxCount(at site: TestSite) throws -> Int {
        try Inbox(site.call(.get, Path.inbox, as: "alice")).messages.count
    }

    // MARK: What has changed

    enum Change: CaseIterable, Sendable {
        case right, disabled, expired, recipientRemoved, recipientSecureOnly

        func make(at site: TestSite) throws {
            switch self {
            case .right: try site.change("bob") { $0.sendTo = ["carol"] }
            case .disabled: try site.change("bob") { $0.disabledAt = Timestamp(seconds: site.clock.seconds) }
            case .expired: try site.change("bob") { $0.expiresAt = Timestamp(seconds: site.clock.seconds + 30) }
            case .recipientRemoved: _ = try site.upkeep().remove("alice")
            case .recipientSecureOnly: try site.change("alice") { $0.isSecureOnly = true }
            }
        }
    }

    @Test(arguments: [Change.right, .disabled, .expired])
    func `what the sender may not do any more at its time is not done, and the timeline says so`(change: Change) throws
    {
        let site = try site()
        let id = try schedule(at: site)
        try change.make(at: site)
        site.clock.advance(60)
        _ = try site.sendDue()
        #expect(site.hub.messages.isEmpty)
        #expect(try inboxCount(at: site) == 0)
        #expect(try site.store.waiting(in: .sends).isEmpty)
        try site.change("bob") { ($0.sendTo, $0.disabledAt, $0.expiresAt) = (nil, nil, nil) }
        let timeline = try MessageTimeline(site.timeline(id))
        #expect(timeline.outcomes.map(\.state) == ["Abandoned"] && timeline.to == "alice" && !timeline.isKept)
    }

    @Test func `who wants ids alone by then gets an id alone`() throws {
        let site = try site()
        let id = try schedule(at: site)
        try Change.recipientSecureOnly.make(at: site)
        site.clock.advance(60)
        _ = try site.sendDue()
        #expect(site.hub.messages.count == 1 && !site.hub.messages[0].body.contains("Hi"))
        #expect(try MessageTimeline(site.timeline(id)).isSecure)
    }

    @Test func `a sender who was removed leaves none behind, and the next user of the name sends none of them`() throws
    {
        let site = try site()
        _ = try schedule(at: site)
        let removed = try #require(try site.upkeep().remove("bob"))
        #expect(removed.sends == 1)
        #expect(try site.store.waiting(in: .sends).isEmpty)
        // One that a process has put in late.
        let site2 = try self.site()
        _ = try schedule(at: site2)
        let entry = try #require(try site2.store.waiting(in: .sends).first)
        _ = try site2.upkeep().remove("bob")
        try site2.store.putWaiting([entry], in: .sends)
        try site2.addAgain("bob")
        #expect(try site2.scheduled().isEmpty)
        site2.clock.advance(60)
        _ = try site2.sendDue()
        #expect(site2.hub.messages.isEmpty)
        #expect(try site2.store.waiting(in: .sends).isEmpty)
    }

    @Test func `a message of a way to log in that was taken away since is not sent`() throws {
        let first = try site()
        _ = try schedule(at: first)
        let entry = try #require(try first.store.waiting(in: .sends).first)
        let other = try site { $0.authenticationMethods = [.token, .session] }
        try other.store.putWaiting([entry], in: .sends)
        other.clock.advance(60)
        _ = try other.sendDue()
        #expect(other.hub.messages.isEmpty)
        #expect(try other.store.waiting(in: .sends).isEmpty)
    }

    // MARK: Troubles

    @Test func `while the hub refuses it is tried each minute, and its sender may take it back`() throws {
        let site = try site()
        let (id, other) = (try schedule(at: site), try schedule(at: site))
        hub.trouble.store(.refusing, ordering: .relaxed)
        site.clock.advance(60)
        #expect(try site.sendDue() <= .seconds(10))
        #expect(try inboxCount(at: site) == 0)
        #expect(try Set(site.scheduled()) == [id, other])
        #expect(site.call(.delete, "\(Path.scheduled)/\(other)", as: "bob").status == .ok)
        hub.trouble.store(.none, ordering: .relaxed)
        // Not before a minute is over.
        site.clock.advance(59)
        _ = try site.sendDue()
        #expect(try inboxCount(at: site) == 0)
        site.clock.advance(1)
        _ = try site.sendDue()
        #expect(try inboxCount(at: site) == 1)
        #expect(try MessageTimeline(site.timeline(id)).outcomes.map(\.state) != ["Abandoned"])
        #expect(try site.store.waiting(in: .sends).isEmpty)
    }

    @Test(arguments: [false, true])
    func `where the hub may have it or not it is not sent again, and the inbox has it`(secure: Bool) throws {
        let site = try site()
        let id = try schedule(at: site, secure: secure)
        hub.trouble.store(.silent, ordering: .relaxed)
        site.clock.advance(60)
        _ = try site.sendDue()
        #expect(try site.store.waiting(in: .sends).isEmpty)
        let timeline = try MessageTimeline(site.timeline(id))
        #expect(try timeline.outcomes.map(\.state) == ["Abandoned"] && timeline.isKept && inboxCount(at: site) == 1)
    }

    @Test func `a secure message that the hub refuses at first is kept once for each, and pushed later`() throws {
        let site = try site()
        let message = PushMessage(
            to: .several(["alice", "carol"]), body: "4711", isSecure: true, platforms: ["apns"], sendAt: site.time(60))
        let id = try #require(try SendOutcome(site.send(message)).messageID)
        hub.trouble.store(.refusing, ordering: .relaxed)
        site.clock.advance(60)
        for _ in 0..<3 {
            _ = try site.sendDue()
            site.clock.advance(60)
        }
        hub.trouble.store(.none, ordering: .relaxed)
        _ = try site.sendDue()
        for name in ["alice", "carol"] {
            #expect(try Inbox(site.call(.get, Path.inbox, as: name)).messages.count == 1)
        }
        let timeline = try MessageTimeline(site.timeline(id))
        #expect(timeline.outcomes.count == 2 && timeline.outcomes.allSatisfy { $0.state != "Abandoned" })
    }

    @Test func `after an hour without a hub it is given up`() throws {
        let site = try site()
        let id = try schedule(at: site)
        hub.trouble.store(.refusing, ordering: .relaxed)
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
        #expect(try inboxCount(at: site) == 0)
    }

    @Test func `a device that is gone since is no reason not to send`() throws {
        let site = try site()
        let own = try site.register("bob", handle: TestSite.token(3))
        let message = PushMessage(
            to: "alice", body: "Hi", platforms: ["apns"], fromDevice: own, sendAt: site.time(60))
        let id = try #require(try SendOutcome(site.send(message)).messageID)
        #expect(site.call(.delete, "\(Path.register)/\(own)", as: "bob").status == .ok)
        site.clock.advance(60)
        _ = try site.sendDue()
        #expect(try inboxCount(at: site) == 1)
        #expect(try MessageTimeline(site.timeline(id)).outcomes.map(\.state) != ["Abandoned"])
    }

    @Test func `what another version has written beside stays, and changes nothing`() throws {
        let site = try site()
        _ = try schedule(at: site)
        let entry = try #require(try site.store.waiting(in: .sends).first)
        try site.store.removeWaiting([entry.id], from: .sends)
        let document = JSONValue.object((entry.document.members ?? []) + [.init("zone", .string("UTC"))])
        // Its time was moved by hand, too.
        try site.store.putWaiting(
            [HubMessage(id: entry.id, document: document, createdAt: entry.createdAt, expiresAt: entry.expiresAt + 60)],
            in: .sends)
        hub.trouble.store(.refusing, ordering: .relaxed)
        site.clock.advance(60)
        #expect(try site.sendDue() == .seconds(10))
        #expect(try site.store.waiting(in: .sends).first?.document["zone"]?.string == "UTC")
        #expect(site.call(.delete, "\(Path.scheduled)/\(entry.id)", as: "bob").status == .ok)
        #expect(try site.store.waiting(in: .sends).isEmpty)
    }

    @Test func `a service that was away for less than a day sends it late, and later not at all`() throws {
        for (seconds, isSent) in [(86_400 + 59, true), (86_400 + 60, false)] {
            let site = try site()
            let id = try schedule(at: site)
            site.clock.advance(Int64(seconds))
            _ = try site.sendDue()
            #expect(try inboxCount(at: site) == (isSent ? 1 : 0))
            #expect(site.timeline(id).status == .ok)
            #expect(try site.store.waiting(in: .sends).isEmpty)
        }
    }

    @Test(arguments: [false, true])
    func `a process that was killed at that moment leaves it to the next, and the inbox has it once`(secure: Bool)
        throws
    {
        let site = try site()
        let id = try schedule(at: site, secure: secure)
        let entry = try #require(try site.store.waiting(in: .sends).first)
        site.clock.advance(60)
        // As a process leaves it that is killed between the send and the last step.
        let members = [
            JSONValue.Member("begun", .bool(true)), JSONValue.Member("dueAt", .string(site.time(300))),
            JSONValue.Member("triedAt", .string(site.time(0))),
        ]
        var begun = entry
        begun.document = .object((entry.document.members ?? []) + members)
        _ = try site.sendDue()
        try site.store.putWaiting([begun], in: .sends)
        _ = try site.sendDue()
        #expect(try site.scheduled().isEmpty)
        #expect(site.call(.delete, "\(Path.scheduled)/\(id)", as: "bob").status == .notFound)
        site.clock.advance(299)
        // Another process: this one knows that it is done with it.
        #expect(try site.twin.scheduledSender.sendDue() == .seconds(1))
        #expect(site.hub.messages.count == 1)
        site.clock.advance(1)
        _ = try site.twin.scheduledSender.sendDue()
        #expect(site.hub.messages.count == 2)
        #expect(try inboxCount(at: site) == 1)
        #expect(try site.store.waiting(in: .sends).isEmpty)
    }

    @Test func `what the store cannot take from the list is not sent again`() throws {
        let trouble = Atomic(true)
        let site = try site { parts in
            parts.schedule = SendSchedule(store: StickyList(inner: parts.store) { trouble.load(ordering: .relaxed) })
        }
        _ = try schedule(at: site)
        site.clock.advance(60)
        for _ in 0..<3 {
            #expect(throws: StoreError.full) { try site.sendDue() }
            site.clock.advance(300)
        }
        #expect(try site.store.waiting(in: .sends).count == 1)
        trouble.store(false, ordering: .relaxed)
        _ = try site.sendDue()
        #expect(try site.store.waiting(in: .sends).isEmpty)
        #expect(try site.hub.messages.count == 1 && inboxCount(at: site) == 1)
    }

    @Test func `of two processes at once one sends it`() throws {
        let site = try site()
        for _ in 0..<8 { _ = try schedule(at: site) }
        site.clock.advance(60)
        let senders = [site.backend, site.twin].map { backend in
            Background {
                while try !site.store.waiting(in: .sends).isEmpty { _ = try backend.scheduledSender.sendDue() }
            }
        }
        for sender in senders { try sender.outcome(seconds: 120) }
        #expect(try inboxCount(at: site) == 8)
        #expect(site.hub.messages.count == 8)
    }

    @Test func `the thread sends what is put in, and ends when it is stopped`() throws {
        let site = try site()
        let sender = site.backend.scheduledSender
        let thread = Background { sender.run() }
        _ = try schedule(at: site)
        site.clock.advance(60)
        // It looks when one more is put in.
        _ = try schedule(at: site)
        #expect(Deadline.poll(seconds: 60) { site.hub.messages.count == 1 })
        sender.stop()
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

/// A hub that does not take what is sent.
final class TroubledHub: Sendable {
    enum Trouble: UInt8, AtomicRepresentable, Sendable {
        case none
        /// It answers that it has done nothing.
        case refusing
        /// It does not answer.
        case silent
    }

    let trouble = Atomic(Trouble.none)

    func surround(_ hub: any Responder) -> any Responder {
        ClosureResponder { [self] request in
            switch trouble.load(ordering: .relaxed) {
            case .none: return try hub.respond(to: request)
            case .refusing: return Response(status: .tooManyRequests)
            case .silent: throw NoAnswer()
            }
        }
    }
}
