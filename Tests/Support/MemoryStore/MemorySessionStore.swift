// SPDX-License-Identifier: Apache-2.0
import Store
package import Text

import class System.Lock

/// Sessions and sends in memory. It keeps the contract that the real store keeps (`SessionContract`), so that tests
/// that need no more than these are worth something.
package final class MemorySessionStore: SessionStore, SendOwnership {
    private struct State {
        var sessions: [String: Session] = [:]
        /// By owner, the oldest first.
        var sent: [String: [(id: String, expiresAt: Timestamp)]] = [:]
        var messages: [String: SentMessage] = [:]
        /// By message. Bytes, because names that only look alike are two owners.
        var openings: [String: [[UInt8]: Timestamp]] = [:]
    }

    private let state = Lock(State())
    private let sessionsPerOwner: Int
    private let sentPerOwner: Int
    private let openersPerMessage: Int

    package init(
        sessionsPerOwner: Int = Quotas().sessionsPerOwner, sentPerOwner: Int = Quotas().sentPerOwner,
        openersPerMessage: Int = Quotas().openersPerMessage
    ) {
        self.openersPerMessage = openersPerMessage
        self.sessionsPerOwner = sessionsPerOwner
        self.sentPerOwner = sentPerOwner
    }

    package func createSession(_ session: Session, now: Timestamp) throws(StoreError) {
        let isNew = state.withLock { state in
            guard state.sessions[session.id] == nil else { return false }
            let live = state.sessions.values.filter { $0.owner == session.owner && $0.expiresAt > now }
            let oldestFirst = live.sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
            for old in oldestFirst.prefix(max(0, live.count - sessionsPerOwner + 1)) { state.sessions[old.id] = nil }
            state.sessions[session.id] = session
            return true
        }
        guard isNew else { throw .conflict }
    }

    package func session(_ id: String, now: Timestamp) throws(StoreError) -> Session? {
        state.withLock { $0.sessions[id] }.flatMap { $0.expiresAt > now ? $0 : nil }
    }

    package func sessions(owner: String, now: Timestamp) throws(StoreError) -> [Session] {
        state.withLock { Array($0.sessions.values) }
            .filter { $0.owner.utf8.elementsEqual(owner.utf8) && $0.expiresAt > now }
            .sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
    }

    package func removeSession(_ id: String) throws(StoreError) -> Bool {
        state.withLock { $0.sessions.removeValue(forKey: id) } != nil
    }

    package func removeSessions(owner: String) throws(StoreError) -> Int {
        state.withLock { state in
            let before = state.sessions.count
            // Byte by byte: names that only look alike are two owners.
            state.sessions = state.sessions.filter { !$0.value.owner.utf8.elementsEqual(owner.utf8) }
            return before - state.sessions.count
        }
    }

    package func rememberSent(
        _ ids: [String], message: SentMessage?, owner: String, now: Timestamp, expiresAt: Timestamp
    ) throws(StoreError) {
        state.withLock { state in
            if let message { state.messages[message.id] = message }
            let names = ids.isEmpty ? message.map { [$0.id] } ?? [] : ids
            let all = (state.sent[owner] ?? []) + names.map { ($0, expiresAt) }
            state.sent[owner] = Array(all.suffix(sentPerOwner))
        }
    }

    package func sentMessage(_ id: String, now: Timestamp) throws(StoreError) -> SentMessage? {
        state.withLock { $0.messages[id] }.flatMap { $0.expiresAt > now ? $0 : nil }
    }

    package func sentMessages(
        owner: String?, behind place: SentMessage.Place?, limit: Int, now: Timestamp,
        where isWanted: (SentMessage) -> Bool
    ) throws(StoreError) -> [SentMessage] {
        let found = state.withLock { Array($0.messages.values) }.filter { message in
            message.expiresAt > now && owner.map { message.owner.utf8.elementsEqual($0.utf8) } ?? true
                && place.map { message.place < $0 } ?? true && isWanted(message)
        }
        return Array(found.sorted { $0.place > $1.place }.prefix(max(0, limit)))
    }

    @discardableResult
    package func noteOpening(_ opening: MessageOpening, now: Timestamp) throws(StoreError) -> Bool {
        state.withLock { state in
            let known = state.openings[opening.message, default: [:]]
            guard known.count < openersPerMessage, known[Array(opening.opener.utf8)] == nil else { return false }
            state.openings[opening.message, default: [:]][Array(opening.opener.utf8)] = opening.expiresAt
            return true
        }
    }

    package func openings(ofMessage id: String, now: Timestamp) throws(StoreError) -> Int {
        state.withLock { $0.openings[id, default: [:]].values.count { $0 > now } }
    }

    package func hasSent(_ id: String, owner: String, now: Timestamp) throws(StoreError) -> Bool {
        state.withLock { $0.sent[owner]?.contains { $0.id == id && $0.expiresAt > now } ?? false }
    }
}
