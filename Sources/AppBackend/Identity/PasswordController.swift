// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import JSON
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

    /// `{"Password":"<present>","NewPassword":"…"}`. All sessions and app tokens end; with `"KeepTokens":true` the tokens go on. The
    /// session that asks goes on under another cookie: who has copied the former one has nothing.
    /// - Throws: `Problem` 400, 403 and 409; 429 and 503 as at a log-in; `StoreError`; `Postponed`.
    private func change(_ request: UserRequest) throws -> Response {
        guard takesPasswords, request.user.record?.passwordHash.isEmpty == false else {
            throw Problem.noPassword
        }
        try request.http.requireJSON()
        let fields = try Fields(body: request.body, known: ["Password", "NewPassword", "KeepTokens"])
        let present = try fields.string("Password")
        let wanted = try newPassword(fields)
        let keepsTokens = try fields.bool("KeepTokens")
        guard let user = try request.verify(present, by: sessions.authenticator).record else {
            throw Problem.noPassword
        }
        let hash = try UserAdministration.hash(wanted)
        let change = try set(hash, of: user, keepsTokens)
        var response = Response.unstoredJSON(change.json.bytes)
        let account = Account(change.user.principal, credentialVersion: change.user.credentialVersion(hash))
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
            throw Problem(.unusablePassword, error.description, field: field)
        }
        return text
    }

    /// - Throws: `Problem` 409, when the user has another password by now, or may not log in any more.
    private func set(_ hash: String, of verified: User, _ keepsTokens: Bool) throws -> PasswordChange {
        try UserAdministration(store: store, now: sessions.now)
            .setPassword(hash, of: verified.name, keepingTokens: keepsTokens) { record in
                guard let user = record, user.owner.hasSameBytes(as: verified.owner), user.mayLogIn(sessions.now()),
                    user.passwordHash == verified.passwordHash
                else { throw Problem(.passwordChanged, "The password was changed meanwhile.", field: "Password") }
                return user
            }
    }
}

extension PasswordChange {
    fileprivate var json: JSONWriter {
        JSONWriter.object { json in
            json.member("TokensEnded", tokensEnded)
            json.member("TokensKept", tokensKept)
        }
    }
}
