// SPDX-License-Identifier: Apache-2.0

/// Users to whom the operator has given a name, as a group that is sent to, and what they may beside what they may anyway.
package struct Role: Equatable, Sendable {
    package let name: String
    /// Patterns of tags that its users may claim.
    package let tags: [String]
    /// Patterns of recipients that its users may send to.
    package let sendTo: [String]
    /// Whether its users may send to everyone.
    package let mayBroadcast: Bool
    /// Whether its users may administer. No pattern grants that.
    package let administers: Bool

    package init(
        name: String, tags: [String] = [], sendTo: [String] = [], mayBroadcast: Bool = false, administers: Bool = false
    ) {
        (self.name, self.tags, self.sendTo) = (name, tags, sendTo)
        (self.mayBroadcast, self.administers) = (mayBroadcast, administers)
    }
}
