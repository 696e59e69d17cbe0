// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import Store

/// `PUT /api/password`: a user changes their own password. No app token reaches it (`ScopeHandler`).
struct PasswordController: Sendable {
    let store: any StateStore
    let sessions: Sessions
    /// Whether users log in here by passwords of the store.
    let takesPasswords: Bool

    var routes: [Route<UserAction>] {
        [Route(.put, Path.password) { request, _ in try change(request) }]
    }

    /// `{"Password":"<present>","NewPassword":"…"}`. All sessions end. The one that asks goes on under another cookie: who has
    /// copied the former one has nothing.
    /// - Throws: `Problem` 400, 403 and 409; 429 and 503 as at a log-in; `StoreError`; `Postponed`.
    private func change(_ request: UserRequest) throws -> Response {
        guard takesPasswords, request.user.record?.passwordHash.isEmpty == false else {
            throw Problem(.forbidden, "You have no password here: you log in by other means.")
        }
        try request.http.requireJSON()
        let fields = try Fields(body: request.body, known: ["Password", "NewPassword"])
        let present = try fields.string("Password")
        let wanted = try newPassword(fields)
        let user = try verified(present, request)
        let hash = try UserAdministration.hash(wanted)
        let changed = try set(hash, of: user)
        // They count no more. That their records are gone is for those who look.
        _ = try? store.removeSessions(owner: changed.owner)
        var response = Response(fields: [.cacheControl: "no-store"])
        let account = Account(changed.principal, credentialVersion: changed.credentialVersion(hash))
        // It was changed. Where no session can be kept now, the user logs in again.
        if request.user.method == .session, let (token, _) = try? sessions.begin(for: account) {
            response.fields[.setCookie] = SessionCookie.set(token, maximumAge: sessions.lifetime)
        }
        return response
    }

    /// - Throws: `Problem` 400, also for one that is short, or with which no user could log in.
    private func newPassword(_ fields: Fields) throws(Problem) -> String {
        let field = "NewPassword"
        let text = try fields.string(field)
        do throws(AdministrationError) {
            try UserAdministration.check(chosen: text)
        } catch {
            throw Problem(.badRequest, error.description, field: field)
        }
        return text
    }

    /// The user as they are at present, if that is their password. It is a log-in as far as guessing is concerned.
    /// - Throws: `Problem` 403, when it is not; 429 and 503, when it was not even tried.
    private func verified(_ password: String, _ request: UserRequest) throws -> User {
        var http = request.http
        // Where the request's own credentials were waited for, the outcome is theirs.
        if request.user.method != .session { http.postponing = .unavailable }
        guard let user = try sessions.authenticator.verified(password, of: request.user, http).record else {
            throw Problem(.forbidden, "You have no password here: you log in by other means.")
        }
        return user
    }

    /// - Throws: `Problem` 409, when the user has another password by now, or may not log in any more.
    private func set(_ hash: String, of verified: User) throws -> User {
        try store.changeUser(verified.name) { record in
            guard var user = record, user.owner.hasSameBytes(as: verified.owner), user.mayLogIn(sessions.now()),
                user.passwordHash == verified.passwordHash
            else { throw Problem(.conflict, "The password was changed meanwhile.", field: "Password") }
            user.passwordHash = hash
            return user
        }
    }
}
