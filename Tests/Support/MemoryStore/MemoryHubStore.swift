// SPDX-License-Identifier: Apache-2.0
import JSON
import Store
package import Text

import class System.Lock

/// A `HubStore` in memory. It keeps the contract that the real one keeps (`HubContract`), so that the hub's tests are
/// worth something.
package final class MemoryHubStore: HubStore, HubQueue {
    private struct State {
        var registrations: [String: HubRegistration] = [:]
        var messages: [String: HubMessage] = [:]
        var read = 0
        var tagPages = 0
        /// In the order in which they came.
        var queue: [HubMessage] = []
        /// By any writer, as of the file: the holder of the lease changes the revision, too.
        var queueChanges = 0
        var queueReads = 0
        /// How often the lease was acquired, and which of these acquisitions lasts.
        var leases = 0
        var currentLease: Int?
    }

    /// Messages that may wait.
    package static let maximumQueued = 100

    private let state = Lock(State())

    package init() {}

    /// How many registrations were handed out by lists.
    package var registrationsRead: Int { state.withLock { $0.read } }
    /// How often a page of a tag's registrations was asked for; each costs a look at the ids of all of them.
    package var tagPagesRead: Int { state.withLock { $0.tagPages } }
    /// How often the queue was looked through.
    package var queueReads: Int { state.withLock { $0.queueReads } }
    package var registrationCount: Int { state.withLock { $0.registrations.count } }

    package func hubRegistration(_ id: String) throws(StoreError) -> HubRegistration? {
        state.withLock { $0.registrations[id] }
    }

    package func putHubRegistration(_ registration: HubRegistration) throws(StoreError) -> HubRegistration {
        try registration.description.checkDocument()
        let result = state.withLock { state -> HubRegistration? in
            guard (state.registrations[registration.id]?.version ?? 0) == registration.version else { return nil }
            var stored = registration
            stored.version += 1
            state.registrations[registration.id] = stored
            return stored
        }
        guard let result else { throw .conflict }
        return result
    }

    package func removeHubRegistration(_ id: String, version: Int?) throws(StoreError) -> Bool {
        let removed = state.withLock { state -> Bool? in
            guard let current = state.registrations[id] else { return false }
            guard version == nil || version == current.version else { return nil }
            state.registrations[id] = nil
            return true
        }
        guard let removed else { throw .conflict }
        return removed
    }

    package func hubRegistrations(channel: String) throws(StoreError) -> [HubRegistration] {
        list(nil, .max) { $0.channel == channel }.elements
    }

    package func hubRegistrations(
        tag: String, after: String?, limit: Int
    ) throws(StoreError) -> Page<HubRegistration> {
        state.withLock { $0.tagPages += 1 }
        return list(after, limit) { $0.tags.contains(tag) }
    }

    package func hubRegistrationCount(tag: String, limit: Int) throws(StoreError) -> Int {
        state.withLock { state in min(limit, state.registrations.values.count { $0.tags.contains(tag) }) }
    }

    package func forEachHubRegistration(tag: String, _ body: (HubRegistration) -> Void) throws(StoreError) {
        list(nil, .max) { $0.tags.contains(tag) }.elements.forEach(body)
    }

    /// What the name of a page of all registrations begins with, so that no other text is taken for one.
    private static let pagePrefix = "after_"

    package func hubRegistrations(
        in namespace: HubNamespace?, after: String?, limit: Int
    ) throws(StoreError) -> Page<HubRegistration> {
        guard after?.hasPrefix(Self.pagePrefix) != false else { throw .invalidContinuationToken }
        // The sign of the served hub's ids may not be in the name of a page.
        var page = list(
            after.map { String($0.dropFirst(Self.pagePrefix.count)).replacing("_served_", with: "~") }, limit
        ) {
            namespace == nil || $0.namespace == namespace
        }
        page.next = page.next.map { Self.pagePrefix + $0.replacing("~", with: "_served_") }
        return page
    }

    private func list(
        _ after: String?, _ limit: Int, _ isWanted: (HubRegistration) -> Bool
    ) -> Page<HubRegistration> {
        state.withLock { state in
            let all = state.registrations.values.filter { $0.id > after ?? "" && isWanted($0) }.sorted { $0.id < $1.id }
            let page = Array(all.prefix(limit))
            state.read += page.count
            return Page(elements: page, next: all.count > page.count ? page.last?.id : nil)
        }
    }

    package func putHubMessage(_ message: HubMessage) throws(StoreError) {
        try message.document.checkDocument()
        state.withLock { $0.messages[message.id] = message }
    }

    package func hubMessage(_ id: String, now: Timestamp) throws(StoreError) -> HubMessage? {
        state.withLock { $0.messages[id] }.flatMap { $0.expiresAt > now ? $0 : nil }
    }

    // MARK: The queue

    package func enqueueHubMessage(_ message: HubMessage) throws(StoreError) {
        try message.document.checkDocument()
        let isKept = state.withLock { state in
            guard state.queue.count < Self.maximumQueued else { return false }
            state.queue.append(message)
            state.queueChanges += 1
            return true
        }
        guard isKept else { throw .quotaExceeded }
    }

    package func queuedHubMessage(_ id: String, notBefore: Timestamp?) throws(StoreError) -> HubMessage? {
        state.withLock { $0.queue.first { $0.id == id && $0.notBefore == notBefore } }
    }

    package func dueHubMessages(
        except ids: Set<String>, limit: Int, now: Timestamp
    ) throws(StoreError) -> DueHubMessages {
        state.withLock { state in
            state.queueReads += 1
            let isDue = { (message: HubMessage) in message.notBefore.map { $0 <= now } ?? true }
            let due = state.queue.filter { isDue($0) && !ids.contains($0.id) }.sorted { $0.dueAt < $1.dueAt }
            let next = state.queue.filter { !isDue($0) }.map(\.dueAt).min()
            return DueHubMessages(Array(due.prefix(limit)), next: next)
        }
    }

    package func updateQueuedHubMessages(_ messages: [HubMessage]) throws(StoreError) {
        for message in messages { try message.document.checkDocument() }
        state.withLock { state in
            for message in messages {
                guard let place = state.queue.firstIndex(where: { $0.id == message.id }) else { continue }
                state.queue[place] = message
                state.queueChanges += 1
            }
        }
    }

    package func removeQueuedHubMessages(_ messages: [HubMessage]) throws(StoreError) {
        let ids = Set(messages.map(\.id))
        state.withLock { state in
            state.queue.removeAll { ids.contains($0.id) }
            state.queueChanges += 1
        }
    }

    package func hubQueueRevision(now: Timestamp) -> QueueRevision {
        QueueRevision([state.withLock { $0.queueChanges }])
    }

    package func hubQueueBacklog(now: Timestamp) throws(StoreError) -> QueueBacklog {
        let due = state.withLock { $0.queue.filter { $0.notBefore.map { $0 <= now } ?? true } }
        return QueueBacklog(messages: due.count, oldest: due.map(\.dueAt).min())
    }

    package func acquireDeliveryLease() throws(StoreError) -> DeliveryLease? {
        let number = state.withLock { state -> Int? in
            guard state.currentLease == nil else { return nil }
            state.leases += 1
            state.currentLease = state.leases
            return state.leases
        }
        guard let number else { return nil }
        return DeliveryLease { [weak self] in
            self?.state.withLock { if $0.currentLease == number { $0.currentLease = nil } }
        }
    }
}
