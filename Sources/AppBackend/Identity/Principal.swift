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
    /// `auth.method: test`).
    package var record: User?

    package init(name: String, owner: String, record: User? = nil) {
        (self.name, self.owner, self.record) = (name, owner, record)
    }
}
