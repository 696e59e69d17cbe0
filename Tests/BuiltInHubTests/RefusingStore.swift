// SPDX-License-Identifier: Apache-2.0
import Store
import Support
import Text

import class System.Latch
import class System.Lock

/// Lets a store find the registrations of one tag only when the test opens it.
struct LookupGate: Sendable {
    let tag: String
    let begun = Latch()
    let opened = Latch()
}

/// A store in memory that refuses some calls, as a full disk or a damaged file does, and counts how often.
final class RefusingStore: HubStore, HubQueue {
    enum Call: Hashable {
        case readRegistration, findTargets, putMessage, update, remove
    }

    private struct State {
        var refused: Set<Call> = []
        var refusals = 0
        var lease: DeliveryLease?
        var isLeaseLost = false
        var isFenced = false
        var isBarred = false
        var lossesTold = 0
    }

    let inner: MemoryHubStore
    private let state = Lock(State())

    private let gate: LookupGate?

    /// - Parameter inner: what it has in common with others like it, each of another process.
    init(_ inner: MemoryHubStore = MemoryHubStore(), gate: LookupGate? = nil) {
        (self.inner, self.gate) = (inner, gate)
    }

    /// How the holder of a lease learns that it is lost.
    enum Loss {
        /// By renewing it.
        case toldByLease
        /// By the first write that comes too late.
        case toldByWrite
    }

    /// From now on others may acquire the lease.
    /// - Parameter isForGood: this store does not get it back.
    func loseLease(_ loss: Loss, isForGood: Bool) {
        let lease = state.withLock { state in
            (state.isLeaseLost, state.isFenced) = (loss == .toldByLease, loss == .toldByWrite)
            state.isBarred = isForGood
            return state.lease.take()
        }
        lease?.release()
    }

    /// How often a renewal was refused.
    var lossesTold: Int { state.withLock { $0.lossesTold } }

    private func checkLease() throws(StoreError) {
        if state.withLock({ $0.isFenced }) { throw .conflict }
    }

    /// From now on exactly these calls are refused.
    func refuse(_ calls: Set<Call>) { state.withLock { ($0.refused, $0.refusals) = (calls, 0) } }

    /// Since the last `refuse(_:)`.
    var refusals: Int { state.withLock { $0.refusals } }

    private func check(_ call: Call) throws(StoreError) {
        let isRefused = state.withLock { state in
            guard state.refused.contains(call) else { return false }
            state.refusals += 1
            return true
        }
        if isRefused { throw .full }
    }

    func hubRegistration(_ id: String) throws(StoreError) -> HubRegistration? {
        try check(.readRegistration)
        return try inner.hubRegistration(id)
    }

    func putHubMessage(_ message: HubMessage) throws(StoreError) {
        try check(.putMessage)
        try inner.putHubMessage(message)
    }

    func updateQueuedHubMessages(_ messages: [HubMessage]) throws(StoreError) {
        if !messages.isEmpty { try check(.update) }
        try checkLease()
        try inner.updateQueuedHubMessages(messages)
    }

    func removeQueuedHubMessages(_ messages: [HubMessage]) throws(StoreError) {
        try check(.remove)
        try checkLease()
        try inner.removeQueuedHubMessages(messages)
    }

    // MARK: What is never refused

    func putHubRegistration(_ registration: HubRegistration) throws(StoreError) -> HubRegistration {
        try inner.putHubRegistration(registration)
    }

    func removeHubRegistration(_ id: String, version: Int?) throws(StoreError) -> Bool {
        try inner.removeHubRegistration(id, version: version)
    }

    func hubRegistrations(channel: String) throws(StoreError) -> [HubRegistration] {
        try inner.hubRegistrations(channel: channel)
    }

    func hubRegistrations(tag: String, after: String?, limit: Int) throws(StoreError) -> Page<HubRegistration> {
        try inner.hubRegistrations(tag: tag, after: after, limit: limit)
    }

    func forEachHubRegistration(tag: String, _ body: (HubRegistration) -> Void) throws(StoreError) {
        if let gate, gate.tag == tag {
            gate.begun.open()
            gate.opened.wait(for: .seconds(60))
        }
        try check(.findTargets)
        try inner.forEachHubRegistration(tag: tag, body)
    }

    func hubRegistrations(
        in namespace: HubNamespace?, after: String?, limit: Int
    ) throws(StoreError) -> Page<HubRegistration> {
        try inner.hubRegistrations(in: namespace, after: after, limit: limit)
    }

    func hubMessage(_ id: String, now: Timestamp) throws(StoreError) -> HubMessage? {
        try inner.hubMessage(id, now: now)
    }

    func enqueueHubMessage(_ message: HubMessage) throws(StoreError) { try inner.enqueueHubMessage(message) }

    func queuedHubMessage(_ id: String, notBefore: Timestamp?) throws(StoreError) -> HubMessage? {
        try inner.queuedHubMessage(id, notBefore: notBefore)
    }

    func dueHubMessages(except ids: Set<String>, limit: Int, now: Timestamp) throws(StoreError) -> DueHubMessages {
        try inner.dueHubMessages(except: ids, limit: limit, now: now)
    }

    func hubQueueRevision(now: Timestamp) -> QueueRevision { inner.hubQueueRevision(now: now) }

    func hubQueueBacklog(now: Timestamp) throws(StoreError) -> QueueBacklog { try inner.hubQueueBacklog(now: now) }

    func acquireDeliveryLease() throws(StoreError) -> DeliveryLease? {
        guard !state.withLock({ $0.isBarred }), let lease = try inner.acquireDeliveryLease() else { return nil }
        state.withLock { ($0.lease, $0.isLeaseLost, $0.isFenced) = (lease, false, false) }
        return DeliveryLease { [weak self] in
            self?.state.withLock { state in
                if state.isLeaseLost { state.lossesTold += 1 }
                return !state.isLeaseLost
            } ?? false
        } _: {
            lease.release()
        }
    }
}
