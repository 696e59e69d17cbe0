// SPDX-License-Identifier: Apache-2.0
import HTTP
import Store
import Text

/// Begins, finds and ends the sessions behind the cookies.
struct Sessions: Sendable {
    let store: any SessionStore
    let authenticator: any PasswordAuthenticator
    /// How long a session lasts, in seconds.
    let lifetime: Int64
    let now: @Sendable () -> Timestamp

    /// - Parameter account: as it was before the password was checked.
    func begin(for account: Account) throws(StoreError) -> (token: SessionToken, session: Session) {
        let token = SessionToken.random()
        let time = now()
        let session = Session(
            id: token.id, owner: account.principal.owner, binding: token.binding(account).reveal(),
            createdAt: time, expiresAt: time + lifetime)
        try store.createSession(session, now: time)
        return (token, session)
    }

    /// The session of the request's cookie; nil when there is none, or it has ended in whatever way.
    func session(of request: Request) throws -> OpenSession? {
        guard let token = SessionCookie.token(in: request.fields) else { return nil }
        return try session(of: token)
    }

    func session(of token: SessionToken) throws -> OpenSession? {
        guard let session = try store.session(token.id, now: now()),
            let account = try authenticator.account(ofOwner: session.owner),
            token.binding(account) == Secret(session.binding)
        else { return nil }
        return OpenSession(session: session, user: account.principal)
    }

    /// Ends the session of the request's cookie, if there is one.
    func end(of request: Request) throws(StoreError) {
        guard let token = SessionCookie.token(in: request.fields) else { return }
        _ = try store.removeSession(token.id)
    }
}

/// A valid session, and its user.
struct OpenSession {
    let session: Session
    let user: Principal
}
