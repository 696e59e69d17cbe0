// SPDX-License-Identifier: Apache-2.0
import Store
import Support
import Text

import class System.Lock

/// A store in memory that refuses some calls, as a full disk or a damaged file does, and counts how often.
final class RefusingStore: HubStore, HubQueue {
    enum Call: Hashable {
        case readRegistration, putMessage, update, remove
    }

    private struct State {
        var refused: Set<Call> = []
        var refusals = 0
        var turn: QueueTurn?
        var isTurnLost = false
        var isFenced = false
        var isBarred = false
        var lossesTold = 0
    }

    let inner: MemoryHubStore
    private let state = Lock(State())

    /// - Parameter inner: what it has in common with others like it, each of another process.
    init(_ inner: MemoryHubStore = MemoryHubStore()) { self.inner = inner }

    /// How the holder of a turn learns that his time is over.
    enum Loss {
        /// He is told when he asks whether he may keep it.
        case toldByTurn
        /// He is told by the first write that comes too late.
        case toldByWrite
    }

    /// From now on others may have the turn.
    /// - Parameter isForGood: this store does not get it back.
    func loseTurn(_ loss: Loss, isForGood: Bool) {
        let turn = state.withLock { state in
            (state.isTurnLost, state.isFenced) = (loss == .toldByTurn, loss == .toldByWrite)
            state.isBarred = isForGood
            return state.turn.take()
        }
        turn?.end()
    }

    /// How often somebody who asked whether he may keep his turn was told that he may not.
    var lossesTold: Int { state.withLock { $0.lossesTold } }

    private func checkTurn() throws(StoreError) {
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
        try checkTurn()
        try inner.updateQueuedHubMessages(messages)
    }

    func removeQueuedHubMessages(_ ids: [String]) throws(StoreError) {
        try check(.remove)
        try checkTurn()
        try inner.removeQueuedHubMessages(ids)
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
        try inner.forEachHubRegistration(tag: tag, body)
    }

    func hubRegistrations(after: String?, limit: Int) throws(StoreError) -> Page<HubRegistration> {
        try inner.hubRegistrations(after: after, limit: limit)
    }

    func hubMessage(_ id: String, now: Timestamp) throws(StoreError) -> HubMessage? {
        try inner.hubMessage(id, now: now)
    }

    func enqueueHubMessage(_ message: HubMessage) throws(StoreError) { try inner.enqueueHubMessage(message) }

    func queuedHubMessage(_ id: String) throws(StoreError) -> HubMessage? { try inner.queuedHubMessage(id) }

    func queuedHubMessages(except ids: Set<String>, limit: Int) throws(StoreError) -> [HubMessage] {
        try inner.queuedHubMessages(except: ids, limit: limit)
    }

    func hubQueueMark() -> QueueMark { inner.hubQueueMark() }

    func hubQueueBacklog() throws(StoreError) -> QueueBacklog { try inner.hubQueueBacklog() }

    func takeHubQueueTurn() throws(StoreError) -> QueueTurn? {
        guard !state.withLock({ $0.isBarred }), let turn = try inner.takeHubQueueTurn() else { return nil }
        state.withLock { ($0.turn, $0.isTurnLost, $0.isFenced) = (turn, false, false) }
        return QueueTurn { [weak self] in
            self?.state.withLock { state in
                if state.isTurnLost { state.lossesTold += 1 }
                return !state.isTurnLost
            } ?? false
        } _: {
            turn.end()
        }
    }
}
