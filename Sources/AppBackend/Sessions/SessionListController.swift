// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import JSON
import Store

/// A user's own log-ins by cookie. No app token reaches these routes (`ScopeHandler`).
struct SessionListController: Sendable {
    let sessions: Sessions

    var routes: [Route<UserAction>] {
        [
            Route(.get, Path.sessions) { request, _ in try list(request) },
            Route(.delete, Path.sessions + "/{id}") { request, parameters in try end(request, parameters["id"]) },
        ]
    }

    /// `GET /api/sessions`: in the order in which they began. `Current` is the one whose cookie asks.
    private func list(_ request: UserRequest) throws -> Response {
        let found = try sessions.store.sessions(owner: request.user.owner, now: sessions.now())
        let current = request.user.method == .session ? SessionCookie.token(in: request.http.fields)?.id : nil
        let json = JSONWriter.array(found) { session, json in
            session.writeMembers(to: &json)
            json.member("Current", session.id == current)
        }
        return .unstoredJSON(json.bytes)
    }

    /// `DELETE /api/sessions/{id}`: a mistake in the id must not pass for an end, so it is 404.
    private func end(_ request: UserRequest, _ id: String) throws -> Response {
        let owner = request.user.owner
        guard try sessions.store.removeSession(shown: id, owner: owner, now: sessions.now()) else {
            throw Problem(.noSuchSession, "You have no such session.")
        }
        return Response(fields: [.cacheControl: "no-store"])
    }
}

extension Session {
    func writeMembers(to json: inout JSONWriter) {
        json.member("Id", shownID)
        json.member("CreatedAt", createdAt.text)
        json.member("ExpiresAt", expiresAt.text)
    }
}
