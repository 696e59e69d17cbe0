// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import HTTP
import HTTPTypes
import JSON
import NotificationHub
import Store
import Support
import Testing
import Text

/// What has changed until the time of a message for later counts then.
struct ScheduledSenderTests {
    private let scene = ScheduledScene()

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
        let site = try scene.site()
        let id = try scene.schedule(at: site)
        try change.make(at: site)
        site.clock.advance(60)
        _ = try site.sendDue()
        #expect(site.hub.messages.isEmpty)
        #expect(try scene.inboxCount(at: site) == 0)
        #expect(try site.store.waiting(in: .sends).isEmpty)
        try site.change("bob") { ($0.sendTo, $0.disabledAt, $0.expiresAt) = (nil, nil, nil) }
        let timeline = try MessageTimeline(site.timeline(id))
        #expect(timeline.outcomes.map(\.state) == ["Abandoned"] && timeline.to == "alice" && !timeline.isKept)
    }

    @Test func `who wants ids alone by then gets an id alone`() throws {
        let site = try scene.site()
        let id = try scene.schedule(at: site)
        try Change.recipientSecureOnly.make(at: site)
        site.clock.advance(60)
        _ = try site.sendDue()
        #expect(site.hub.messages.count == 1 && !site.hub.messages[0].body.contains("Hi"))
        #expect(try MessageTimeline(site.timeline(id)).isSecure)
    }

    @Test func `a sender who was removed leaves none behind, and the next user of the name sends none of them`() throws
    {
        let site = try scene.site()
        _ = try scene.schedule(at: site)
        let removed = try #require(try site.upkeep().remove("bob"))
        #expect(removed.sends == 1)
        #expect(try site.store.waiting(in: .sends).isEmpty)
        // One that a process has put in late.
        let site2 = try scene.site()
        _ = try scene.schedule(at: site2)
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

    @Test(arguments: [false, true], [false, true])
    func `the next user of a removed recipient's name gets nothing`(isSecure: Bool, isAddedAgain: Bool) throws {
        let site = try scene.site()
        let id = try scene.schedule(at: site, secure: isSecure)
        _ = try site.upkeep().remove("alice")
        if isAddedAgain { try site.addAgain("alice") }
        site.clock.advance(60)
        _ = try site.sendDue()
        #expect(site.hub.messages.isEmpty)
        if isAddedAgain { #expect(try scene.inboxCount(at: site) == 0) }
        #expect(try MessageTimeline(site.timeline(id)).outcomes.map(\.state) == ["Abandoned"])
    }

    @Test func `a message for a device that is in other hands by its time is not sent`() throws {
        let site = try scene.site()
        let device = try site.register("alice")
        let message = PushMessage(to: .one("device:\(device)"), body: "Hi", platforms: ["apns"], sendAt: site.time(60))
        let id = try #require(try SendOutcome(site.send(message)).messageID)
        #expect(site.put(device, as: "carol", handle: TestSite.token(1)).status == .ok)
        site.clock.advance(60)
        _ = try site.sendDue()
        #expect(site.hub.messages.isEmpty)
        #expect(try MessageTimeline(site.timeline(id)).outcomes.map(\.state) == ["Abandoned"])
    }

    @Test func `of several recipients those who are still there get it`() throws {
        let site = try scene.site()
        let message = PushMessage(
            to: .several(["alice", "carol"]), body: "Hi", platforms: ["apns"], sendAt: site.time(60))
        let id = try #require(try SendOutcome(site.send(message)).messageID)
        _ = try site.upkeep().remove("carol")
        try site.addAgain("carol")
        site.clock.advance(60)
        _ = try site.sendDue()
        #expect(try scene.inboxCount(at: site) == 1)
        #expect(try Inbox(site.call(.get, Path.inbox, as: "carol")).messages.isEmpty)
        #expect(try MessageTimeline(site.timeline(id)).to == "alice")
    }

    @Test func `a message of a way to log in that was taken away since is not sent`() throws {
        let first = try scene.site()
        _ = try scene.schedule(at: first)
        let entry = try #require(try first.store.waiting(in: .sends).first)
        let other = try scene.site { $0.authenticationMethods = [.token, .session] }
        try other.store.putWaiting([entry], in: .sends)
        other.clock.advance(60)
        _ = try other.sendDue()
        #expect(other.hub.messages.isEmpty)
        #expect(try other.store.waiting(in: .sends).isEmpty)
    }
}
