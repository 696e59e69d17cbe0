// SPDX-License-Identifier: Apache-2.0
import JSON
package import Store
import Support
import Testing
internal import Text

/// What every `HubStore` must do, whatever it keeps its records in.
package struct HubContract {
    private let store: any HubStore & HubQueue

    package init(store: any HubStore & HubQueue) { self.store = store }

    package func runAll() throws {
        try hubRegistrations()
        try hubPages()
        try hubNamespaces()
        try hubMessages()
        try queue()
        try deliveryLease()
        try ScheduleContract(store: store).run()
    }

    private func registration(_ id: String, _ channel: String, _ tags: [String]) -> HubRegistration {
        let description = JSONValue.object([.init("handle", .string(channel)), .init("n", .number("1.50"))])
        return HubRegistration(id: id, channel: channel, tags: tags, description: description, updatedAt: noon)
    }

    func hubRegistrations() throws {
        let first = try store.putHubRegistration(registration("r-1", "AA", ["news", "username:ann"]))
        #expect(first.version == 1)
        #expect(try store.hubRegistration("r-1") == first)
        #expect(try store.hubRegistration("r-2") == nil)
        #expect(throws: StoreError.conflict) { try store.putHubRegistration(registration("r-1", "AA", [])) }
        let other = try store.putHubRegistration(registration("r-0", "AA", ["news"]))
        #expect(try store.hubRegistrations(channel: "AA") == [other, first])
        #expect(try store.hubRegistrations(tag: "news", after: nil, limit: 10).elements == [other, first])
        #expect(try store.hubRegistrations(tag: "username:ann", after: nil, limit: 10).elements == [first])
        var moved = first
        (moved.channel, moved.tags) = ("BB", ["sport", "username:ann"])
        moved = try store.putHubRegistration(moved)
        #expect(try store.hubRegistrations(channel: "AA") == [other])
        #expect(try store.hubRegistrations(channel: "BB") == [moved])
        #expect(try store.hubRegistrations(tag: "news", after: nil, limit: 10).elements == [other])
        #expect(try store.hubRegistrations(tag: "sport", after: nil, limit: 10).elements == [moved])
        #expect(throws: StoreError.conflict) { try store.removeHubRegistration("r-1", version: 1) }
        #expect(try store.removeHubRegistration("r-1", version: 2))
        #expect(try !store.removeHubRegistration("r-1", version: nil))
        #expect(try store.hubRegistrations(tag: "sport", after: nil, limit: 10).elements == [])
        #expect(try store.removeHubRegistration("r-0", version: nil))
        #expect(try store.hubRegistrations(after: nil, limit: 10).elements == [])
    }

    func hubNamespaces() throws {
        let own = try store.putHubRegistration(registration("r-1", "AA", ["news"]))
        let served = try store.putHubRegistration(registration("r-1", "AA", ["news"]).movedToServed)
        #expect(own.namespace == .backend && served.namespace == .served && served.plainID == "r-1")
        #expect(try store.hubRegistration("r-1") == own)
        #expect(try store.hubRegistration("~r-1") == served)
        #expect(try store.hubRegistrations(channel: "AA") == [own])
        #expect(try store.hubRegistrations(channel: "~AA") == [served])
        #expect(try store.hubRegistrations(tag: "news", after: nil, limit: 10).elements == [own])
        #expect(try store.hubRegistrations(tag: "~news", after: nil, limit: 10).elements == [served])
        for (namespace, all) in [(HubNamespace.backend, [own]), (.served, [served])] {
            let page = try store.hubRegistrations(in: namespace, after: nil, limit: 1)
            #expect(page.elements == all && page.next == nil)
            // Wherever a list of both goes on, it goes on in the namespace.
            let next = try store.hubRegistrations(after: nil, limit: 1).next
            let rest = try store.hubRegistrations(in: namespace, after: next, limit: 10).elements
            #expect(rest.allSatisfy { $0.namespace == namespace })
        }
        #expect(try store.removeHubRegistration("r-1", version: nil))
        #expect(try store.hubRegistrations(after: nil, limit: 10).elements == [served])
        #expect(try store.removeHubRegistration("~r-1", version: nil))
    }

    func hubPages() throws {
        let ids = (100..<137).map { "page-\($0)" }
        for id in ids { _ = try store.putHubRegistration(registration(id, "C" + id, ["all"])) }
        var byTag: [String] = []
        var cursor: String?
        repeat {
            let page = try store.hubRegistrations(tag: "all", after: cursor, limit: 10)
            byTag += page.elements.map(\.id)
            cursor = page.next
        } while cursor != nil
        #expect(byTag == ids)
        var visited: [String] = []
        try store.forEachHubRegistration(tag: "all") { visited.append($0.id) }
        #expect(visited.sorted() == ids)
        try store.forEachHubRegistration(tag: "none") { _ in Issue.record("nobody has that tag") }
        for id in ids { #expect(try store.hasHubRegistration(tag: "all") { $0.id == id }) }
        #expect(try !store.hasHubRegistration(tag: "all") { $0.id == "r-0" })
        #expect(try !store.hasHubRegistration(tag: "none") { _ in true })
        for limit in [1, 7, 1_000] {
            #expect(try store.hubRegistrationCount(tag: "all", limit: limit) == min(limit, ids.count))
        }
        #expect(try store.hubRegistrationCount(tag: "none", limit: 10) == 0)
        var changed = try store.putHubRegistration(registration("r-5", "CC", ["few"]))
        #expect(try store.hasHubRegistration(tag: "few") { $0.id == "r-5" })
        changed.tags = ["other"]
        _ = try store.putHubRegistration(changed)
        #expect(try !store.hasHubRegistration(tag: "few") { _ in true })
        #expect(try store.hasHubRegistration(tag: "other") { _ in true })
        #expect(try store.removeHubRegistration("r-5", version: nil))
        #expect(try !store.hasHubRegistration(tag: "other") { _ in true })
        var all: [String] = []
        repeat {
            let page = try store.hubRegistrations(after: cursor, limit: 5)
            #expect(page.elements.count <= 5)
            all += page.elements.map(\.id)
            cursor = page.next
            #expect(cursor?.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") } ?? true)
        } while cursor != nil
        #expect(all.sorted() == ids)
        for text in ["", "page-100", "xyz", "-1", "+1", "0F", "00", "fffffffffffffffff"] {
            #expect(throws: StoreError.invalidContinuationToken) { try store.hubRegistrations(after: text, limit: 5) }
        }
        for id in ids { #expect(try store.removeHubRegistration(id, version: 1)) }
    }

    func hubMessages() throws {
        var message = HubMessage(
            id: "m-1", document: .array([.null, .bool(true)]), createdAt: noon, expiresAt: nextDay)
        #expect(try store.hubMessage("m-1", now: noon) == nil)
        try store.putHubMessage(message)
        #expect(try store.hubMessage("m-1", now: noon) == message)
        message.document = .string("done")
        try store.putHubMessage(message)
        #expect(try store.hubMessage("m-1", now: noon) == message)
        #expect(try store.hubMessage("m-1", now: nextDay) == nil)
        var unreadable = message
        for document: JSONValue in [.number("x"), .object([.init("a", .null), .init("a", .null)])] {
            unreadable.document = document
            #expect(throws: StoreError.self) { try store.putHubMessage(unreadable) }
            #expect(throws: StoreError.self) { try store.enqueueHubMessage(unreadable) }
        }
        #expect(try store.hubMessage("m-1", now: noon) == message)
    }

    /// The higher its number, the younger.
    private func message(_ number: Int, _ text: String = "new") -> HubMessage {
        HubMessage(
            id: "q-\(number)", document: .string(text), createdAt: noon + Int64(number), expiresAt: nextDay)
    }

    func queue() throws {
        #expect(try store.queuedHubMessages(except: [], limit: 10) == [])
        try expectBacklog(0, oldest: nil)
        let empty = store.hubQueueRevision()
        let messages = (1...5).map { message($0) }
        for message in messages { try store.enqueueHubMessage(message) }
        #expect(store.hubQueueRevision() != empty)
        try expectBacklog(5, oldest: 1)
        #expect(try store.queuedHubMessages(except: [], limit: 10) == messages)
        #expect(try store.queuedHubMessages(except: ["q-1", "q-3"], limit: 2).map(\.id) == ["q-2", "q-4"])
        #expect(try store.queuedHubMessage("q-2") == messages[1])
        #expect(try store.queuedHubMessage("q-9") == nil)
        try store.updateQueuedHubMessages([message(2, "changed"), message(1, "changed")])
        #expect(try store.queuedHubMessage("q-2") == message(2, "changed"))
        #expect(try store.queuedHubMessages(except: [], limit: 10).map(\.id) == messages.map(\.id))
        try expectBacklog(5, oldest: 1)
        try store.removeQueuedHubMessages(["q-1", "q-3", "q-5"])
        try expectBacklog(2, oldest: 2)
        #expect(try store.queuedHubMessage("q-1") == nil)
        #expect(try store.queuedHubMessages(except: [], limit: 10).map(\.id) == ["q-2", "q-4"])
        try store.removeQueuedHubMessages(["q-2", "q-4"])
        #expect(try store.queuedHubMessages(except: [], limit: 10) == [])
        try expectBacklog(0, oldest: nil)
    }

    private func expectBacklog(_ count: Int, oldest number: Int?) throws {
        // Twice: what was counted is remembered.
        for _ in 1...2 {
            let backlog = try store.hubQueueBacklog()
            #expect(backlog.messages == count)
            #expect(backlog.oldest == number.map { noon + Int64($0) })
        }
    }

    func deliveryLease() throws {
        let lease = try #require(try store.acquireDeliveryLease())
        #expect(try store.acquireDeliveryLease() == nil)
        lease.release()
        lease.release()
        // No variable keeps it, so it ends at once.
        #expect(try store.acquireDeliveryLease() != nil)
        #expect(try store.acquireDeliveryLease() != nil)
    }
}
