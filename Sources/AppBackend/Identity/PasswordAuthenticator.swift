// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
package import HTTP
import Store
import Text

/// Knows the users: whose a name and a password are, and who has a name.
package protocol PasswordAuthenticator: Sendable {
    /// - Parameter request: what brought the credentials. Its peer's address is for counting failures.
    /// - Returns: the user; nil when there is no such user or the password is wrong, without a hint which.
    /// - Throws: `Problem` 429 or 503, when it was not even tried; `StoreError`; `Postponed`, where the request can be put
    ///   off: then it has to be authenticated once more.
    func authenticate(_ credentials: BasicCredentials, of request: Request) throws -> Principal?

    /// Who has the name at present, and what that user's sessions depend on.
    /// - Returns: nil, when there is no such user; then there is no session either.
    /// - Throws: `StoreError`.
    func account(of name: UserName) throws -> Account?
}

/// A user as log-ins see it.
package struct Account: Sendable {
    let principal: Principal
    /// When it changes, the user's sessions end.
    let credentialVersion: String

    package init(_ principal: Principal, credentialVersion: String) {
        self.principal = principal
        self.credentialVersion = credentialVersion
    }
}

extension PasswordAuthenticator {
    /// The account that the owner's is, as long as it is the one that has its name.
    func account(ofOwner owner: String) throws -> Account? {
        guard let name = UserName(User.name(ofOwner: owner)), let account = try account(of: name),
            account.principal.owner.hasSameBytes(as: owner)
        else { return nil }
        return account
    }
}

extension UserRequest {
    /// Checks the password of the request's user, which a page that was left open, and a thief of a cookie or a token, do not have. It
    /// is a log-in as far as guessing is concerned.
    /// - Parameter field: the member of the body that has it.
    /// - Returns: the user as they are at present.
    /// - Throws: `Problem` 403, when it is not theirs, or they have none; 429 or 503, when it was not even tried; `StoreError`;
    ///   `Postponed`: nothing has been done by then.
    func verify(
        _ password: String, in field: String = "Password", by authenticator: any PasswordAuthenticator
    ) throws -> Principal {
        var http = self.http
        // Where the request's own credentials were waited for, the outcome is theirs.
        if user.method != .session { http.postponing = .unavailable }
        guard let credentials = BasicCredentials(name: user.name, password: password), !credentials.isAppToken,
            let found = try authenticator.authenticate(credentials, of: http), found.owner.hasSameBytes(as: user.owner)
        else {
            if user.record?.passwordHash.isEmpty == true { throw Problem.noPassword }
            throw Problem(.wrongPassword, "That is not your password.", field: field)
        }
        return found
    }
}

extension Problem {
    /// Of a user whom another way of logging in lets in, such as an identity provider.
    static var noPassword: Problem { Problem(.noPassword, "You have no password here: you log in by other means.") }
}

extension User {
    /// What the user's sessions depend on: what they logged in with, and that nothing has ended all of them since.
    func credentialVersion(_ credential: String) -> String {
        // As versions of this program had it that knew no epoch. No hash holds a line break.
        credentialEpoch == 0 ? credential : "\(credential)\n\(credentialEpoch)"
    }

    /// Its sessions depend on the hash of the password, which is another one also when the same password is set again.
    /// - Returns: nil for a user who may not log in.
    func account(_ now: Timestamp) -> Account? {
        mayLogIn(now) ? Account(principal, credentialVersion: credentialVersion(passwordHash)) : nil
    }

    var principal: Principal { Principal(name: name, owner: owner, record: self) }
}
