// SPDX-License-Identifier: Apache-2.0

/// What is limited for each user.
package enum LimitedUse: String, CaseIterable, Hashable, Sendable {
    case sends, registrations, lists, bytes
}

/// Counts the requests that a user's limit refuses, for the operator.
package protocol LimitCounter: Sendable {
    /// Called on the request's thread; must not block.
    func countRefusal(_ limit: LimitedUse)
}
