// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
package import JSON
package import Store
import Text

/// A user's own app tokens. No app token reaches these routes (`ScopeHandler`), so one cannot make another.
struct TokenController: Sendable {
    let store: any StateStore
    /// Checks the password of a user who did not show it with the request.
    let authenticator: any PasswordAuthenticator
    let now: @Sendable () -> Timestamp

    var routes: [Route<UserAction>] {
        [
            Route(.post, Path.tokens) { request, _ in try create(request) },
            Route(.get, Path.tokens) { request, _ in try list(request) },
            Route(.delete, Path.tokens + "/{id}") { request, parameters in try delete(request, parameters["id"]) },
        ]
    }

    /// `POST /api/tokens`: `{"Scopes":["send"],"To":["bob"],"Label":"…","ExpiresInDays":90}`, and `"Password":"…"` where the
    /// request is authenticated by anything else.
    ///
    /// The answer is the only place where the token ever is.
    /// - Throws: `Problem` 400; 403 for a user without a record, because there is what ends a token; as `requirePassword`.
    private func create(_ request: UserRequest) throws -> Response {
        guard let user = request.user.record else {
            throw Problem(.userNotAdded, "App tokens are for users whom the operator has added.")
        }
        try request.http.requireJSON()
        let fields = try Fields(body: request.body, known: ["Scopes", "To", "Label", "ExpiresInDays", "Password"])
        // A null must not pass for a token that may send to all: it may be a list of names that is missing by mistake.
        let draft = try AppTokenDraft(
            scopes: try fields.strings("Scopes"), recipients: fields.has("To") ? try fields.strings("To") : nil,
            label: try fields.optionalString("Label") ?? "", days: try Self.days(fields))
        try requirePassword(request, user, fields)
        let (text, token) = try draft.issue(
            owner: request.user.owner, epoch: user.credentialEpoch, in: store, now: now())
        let json = JSONWriter.object { json in
            json.member("Token", text.text.reveal())
            token.writeMembers(to: &json)
        }
        return .unstoredJSON(json.bytes)
    }

    /// A token lasts longer than a session or a token of an identity provider, so none of these makes one.
    /// - Throws: `Problem` 400 and 403; 429 and 503 as at a log-in; `StoreError`; `Postponed`.
    private func requirePassword(_ request: UserRequest, _ user: User, _ fields: Fields) throws {
        // Even if it does not count, it must be text.
        _ = try fields.optionalString("Password")
        switch request.user.method {
        case .password, .test: return
        case .bearer, .webServer, .session, .token, nil: break
        }
        guard !user.passwordHash.isEmpty else {
            throw Problem(
                .noPassword, "An app token takes a password, and you have none here: the operator makes one for you.")
        }
        _ = try request.verify(try fields.string("Password"), by: authenticator)
    }

    /// - Throws: `Problem` 400, for anything but a whole number; how large it may be is the draft's affair.
    private static func days(_ fields: Fields) throws(Problem) -> Int? {
        guard let value = fields["ExpiresInDays"] else { return nil }
        guard let days = value.integer else {
            throw Problem(.invalidValue, "ExpiresInDays must be a whole number.", field: "ExpiresInDays")
        }
        return days
    }

    /// `GET /api/tokens`
    private func list(_ request: UserRequest) throws -> Response {
        let epoch = request.user.record?.credentialEpoch ?? 0
        let tokens = try store.appTokens(owner: request.user.owner, now: now()).filter { $0.epoch == epoch }
        return .unstoredJSON(JSONWriter.array(tokens) { $0.writeMembers(to: &$1) }.bytes)
    }

    /// `DELETE /api/tokens/{id}`: a mistake in the id must not pass for a revocation, so it is 404.
    private func delete(_ request: UserRequest, _ id: String) throws -> Response {
        guard try store.removeAppToken(id, owner: request.user.owner) else {
            throw Problem(.noSuchToken, "You have no such app token.")
        }
        return Response(fields: [.cacheControl: "no-store"])
    }
}

extension AppToken {
    /// As its user is shown it.
    package func writeMembers(to json: inout JSONWriter) {
        json.member("Id", id)
        json.member("Label", label)
        json.member("Scopes", scopes)
        if let recipients { json.member("To", recipients) }
        json.member("CreatedAt", createdAt.text)
        if let expiresAt { json.member("ExpiresAt", expiresAt.text) }
        if let lastUsedAt { json.member("LastUsedAt", lastUsedAt.text) }
    }
}
