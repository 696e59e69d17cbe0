// SPDX-License-Identifier: Apache-2.0
package import HTTP
package import Store
package import Text

/// The tutorial's own check: a request whose password equals the name is that user's. Not a real authentication scheme;
/// it exists for trying the tutorials' clients, and only `test` in `auth.methods` turns it on.
package struct AuthenticationTestHandler: PasswordAuthenticator {
    private let store: any StateStore

    private let now: @Sendable () -> Timestamp

    /// - Parameter store: may have users of these names, whose rights count; they need not be there.
    package init(store: any StateStore, now: @escaping @Sendable () -> Timestamp) {
        (self.store, self.now) = (store, now)
    }

    package func authenticate(_ credentials: BasicCredentials, of request: Request) throws -> Principal? {
        guard credentials.name.hasSameBytes(as: credentials.password) else { return nil }
        return try UserName(new: credentials.name).flatMap(principal)
    }

    /// The credentialVersion is not a hash of any password, so that no session outlives the change to real users, or back.
    package func account(of name: UserName) throws -> Account? {
        guard let principal = try principal(name) else { return nil }
        return Account(principal, credentialVersion: principal.record?.credentialVersion("test") ?? "test")
    }

    /// - Returns: nil for a user of the store who may not log in.
    private func principal(_ name: UserName) throws(StoreError) -> Principal? {
        let name = name.description
        let user = try store.user(name)
        guard user?.mayLogIn(now()) ?? true else { return nil }
        return Principal(name: name, owner: name, record: user)
    }
}
