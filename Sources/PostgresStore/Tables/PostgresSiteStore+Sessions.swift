// SPDX-License-Identifier: Apache-2.0
import Store
package import Text

extension PostgresSiteStore {
    /// Of those who log in at the same moment each may find the same room, so there may be as many more.
    private static let makeRoomForSession = Statement.writingOnce(
        "makeRoomForSession",
        """
        DELETE FROM sessions WHERE id IN (
            SELECT id FROM sessions WHERE owner = $1 AND expires_at > $2
            ORDER BY created_at DESC, id DESC OFFSET $3)
        """)
    /// Sending it twice makes it once: no other session has that id and all the rest of it. The update, which changes
    /// nothing, finds also what the first sending has written since this one began.
    private static let createSession = Statement.writingOnce(
        "createSession",
        """
        WITH made AS (
            INSERT INTO sessions (\(Session.columns)) VALUES (\(Session.columns.parameters))
            ON CONFLICT (id) DO UPDATE SET id = excluded.id
            WHERE (sessions.owner, sessions.binding, sessions.created_at, sessions.expires_at) = ($2, $3, $4, $5)
            RETURNING 1)
        SELECT EXISTS (SELECT 1 FROM made)
        """)
    private static let session = Statement.reading(
        "session",
        "SELECT \(Session.selected) FROM sessions WHERE id = $1 AND expires_at > $2")
    private static let sessions = Statement.reading(
        "sessions",
        """
        SELECT \(Session.selected) FROM sessions WHERE owner = $1 AND expires_at > $2
        ORDER BY created_at, id
        """)
    private static let removeSession = Statement.writing("removeSession", "DELETE FROM sessions WHERE id = $1")
    private static let removeSessions = Statement.writing("removeSessions", "DELETE FROM sessions WHERE owner = $1")

    package func createSession(_ session: Session, now: Timestamp) throws(StoreError) {
        let room = max(0, options.quotas.sessionsPerOwner - 1)
        try database.call(Self.makeRoomForSession, [.name(session.owner), .time(now), .count(room)])
        try answer(Self.createSession, try session.values()) { (row) throws(CallFailure) in
            if try !row.bool(0) { throw .told(.conflict) }
        }
    }

    package func session(_ id: String, now: Timestamp) throws(StoreError) -> Session? {
        try first(Self.session, [.name(id), .time(now)])
    }

    package func sessions(owner: String, now: Timestamp) throws(StoreError) -> [Session] {
        try all(Self.sessions, [.name(owner), .time(now)])
    }

    package func removeSession(_ id: String) throws(StoreError) -> Bool {
        try database.call(Self.removeSession, [.name(id)]) > 0
    }

    package func removeSessions(owner: String) throws(StoreError) -> Int {
        try database.call(Self.removeSessions, [.name(owner)])
    }
}

extension Session: TableRecord {
    static let table = Table<Session>("sessions")
}
