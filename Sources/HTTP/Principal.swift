// SPDX-License-Identifier: Apache-2.0

/// Who makes a request.
public struct Principal: Sendable {
    /// The user's name, as people and policies know it.
    public var name: String
    /// Under which everything that belongs to the user is kept. Of two users who had the same name one after the other
    /// each has its own.
    public var owner: String

    /// A user of that name.
    public init(name: String, owner: String) {
        self.name = name
        self.owner = owner
    }
}
