// SPDX-License-Identifier: Apache-2.0
import HTTP
import JWT
import Store
import Text

/// The users of the store, and those whom issuers of tokens name.
///
/// The latter need no record: nothing is written at first sight. Where the operator has made one, it counts: its rights, and
/// that the user is disabled, has expired or was removed.
struct IssuerUsers: PasswordAuthenticator {
    let inner: any PasswordAuthenticator
    let store: any StateStore
    let verifier: TokenVerifier
    /// Those that a user has who has no record.
    let newUserRoles: [String]
    let now: @Sendable () -> Timestamp

    func authenticate(_ credentials: BasicCredentials, of request: Request) throws -> Principal? {
        try inner.authenticate(credentials, of: request)
    }

    func account(of user: UserName) throws -> Account? {
        let name = user.description
        guard verifier.hasUser(named: name) else { return try inner.account(of: user) }
        if let record = try store.userRecord(name) { return record.account(now()) }
        // No session and no app token is begun for one without a record, so nothing depends on the version.
        var principal = Principal(name: name, owner: name)
        principal.tokenRoles = newUserRoles
        return Account(principal, credentialVersion: "")
    }
}
