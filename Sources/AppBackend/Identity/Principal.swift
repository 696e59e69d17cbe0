// SPDX-License-Identifier: Apache-2.0
package import Store

/// Who makes a request, or is sent something.
package struct Principal: Sendable {
    /// The user's name, as people and policies know it.
    package var name: String
    /// Under which everything that belongs to the user is kept. Of two users who had the same name one after the other
    /// each has their own.
    package var owner: String
    /// The user's record, as it was read at authentication; nil for one who is not in the store (possible with
    /// the method `test`).
    package var record: User?
    /// The roles that its token gives, beside those of the record; where it has no record, those of new users as well.
    package var tokenRoles: [String] = []
    /// How it was authenticated; nil for who is only sent something.
    package var method: AuthenticationMethod?
    /// What it may, of what the user may.
    package var scope = Scope.all

    package init(name: String, owner: String, record: User? = nil) {
        (self.name, self.owner, self.record) = (name, owner, record)
    }

    /// The same, authenticated in that way.
    func authenticated(by method: AuthenticationMethod, scope: Scope = .all) -> Principal {
        var principal = self
        (principal.method, principal.scope) = (method, scope)
        return principal
    }
}
