// SPDX-License-Identifier: Apache-2.0
package import HTTP
package import Store

/// The tutorial's own check: a request whose password equals the name is that user's. Not a real authentication scheme;
/// it exists for trying the tutorials' clients, and only `auth.method: test` turns it on.
package struct AuthenticationTestHandler: Authenticator {
    private let store: any StateStore

    /// - Parameter store: may have users of these names, whose rights count; they need not be there.
    package init(store: any StateStore) {
        self.store = store
    }

    package func authenticate(_ credentials: BasicCredentials, of request: Request) throws -> Principal? {
        guard credentials.name.hasSameBytes(as: credentials.password) else { return nil }
        return try UserName(credentials.name).map(principal)
    }

    /// The credentialVersion is not a hash of any password, so that no session outlives the change to real users, or back.
    package func account(of name: UserName) throws -> Account? {
        Account(try principal(name), credentialVersion: "test")
    }

    private func principal(_ name: UserName) throws(StoreError) -> Principal {
        let name = name.description
        return Principal(name: name, owner: name, record: try store.user(name))
    }
}
