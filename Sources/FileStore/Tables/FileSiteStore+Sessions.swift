// SPDX-License-Identifier: Apache-2.0
internal import JSON
import Store
package import Text

extension FileSiteStore {
    package func createSession(_ session: Session, now: Timestamp) throws(StoreError) {
        try makeRoom(for: session.owner, now)
        _ = try sessionTable.put(Versioned(session))
    }

    /// Of those who log in at the same moment each may find the same room, so there may be as many more.
    private func makeRoom(for owner: String, _ now: Timestamp) throws(StoreError) {
        let allowed = context.options.quotas.sessionsPerOwner
        let listed = IndexedTable<Versioned<Session>>.ids(
            owner, in: try sessionIndex.readLines(of: owner), sessionIndex)
        guard listed.count >= allowed else { return }
        // Postings may be stale, so those that are right are counted before a session ends.
        let live = try sessions(owner: owner, now: now)
        for session in live.prefix(max(0, live.count - allowed + 1)) { _ = try removeSession(session.id) }
    }

    package func sessions(owner: String, now: Timestamp) throws(StoreError) -> [Session] {
        try sessionTable.records(owner, sessionIndex).map(\.record).filter { $0.expiresAt > now }
            .sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
    }

    package func session(_ id: String, now: Timestamp) throws(StoreError) -> Session? {
        guard let found = try sessionTable.record(id)?.record else { return nil }
        return found.expiresAt > now ? found : nil
    }

    package func removeSession(_ id: String) throws(StoreError) -> Bool {
        try sessionTable.remove(id, version: nil)
    }

    package func removeSessions(owner: String) throws(StoreError) -> Int {
        var count = 0
        for record in try sessionTable.records(owner, sessionIndex) where try removeSession(record.id) { count += 1 }
        return count
    }
}

extension Versioned: IndexedRecord {}
