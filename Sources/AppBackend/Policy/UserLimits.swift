// SPDX-License-Identifier: Apache-2.0

/// How much one user may do, whatever network it comes from. Each process counts for itself.
package struct UserLimits: Equatable, Sendable {
    /// Requests of one kind.
    package struct Rate: Equatable, Sendable {
        /// For as long as it goes on; 0: as many as come.
        package var perMinute: Int
        /// After a pause, before `perMinute` counts.
        package var atOnce: Int

        package init(perMinute: Int, atOnce: Int) {
            (self.perMinute, self.atOnce) = (perMinute, atOnce)
        }
    }

    /// Messages: enough to announce something to each of 500 people.
    package var sends = Rate(perMinute: 300, atOnce: 600)
    /// New registration ids, registrations, and their ends: an app makes two when it starts.
    package var registrations = Rate(perMinute: 120, atOnce: 300)
    /// Lists of devices and of messages.
    package var lists = Rate(perMinute: 600, atOnce: 600)
    /// Bytes of bodies and lists that are being worked on; 0: as many as come.
    package var bytesUnderWay = 8 << 20

    /// The highest rate, and number at once, that can be set.
    package static let highestRate = 1_000_000
    /// The most bytes under way that can be set.
    package static let highestBytes = 1 << 30

    package init() {}

    /// None of them.
    package static var none: UserLimits {
        var limits = UserLimits()
        limits.sends.perMinute = 0
        limits.registrations.perMinute = 0
        limits.lists.perMinute = 0
        limits.bytesUnderWay = 0
        return limits
    }
}

/// What is limited for each user.
package enum LimitedUse: String, CaseIterable, Hashable, Sendable {
    case sends, registrations, lists, bytes
}

/// Counts the requests that a user's limit refuses, for the operator.
package protocol LimitCounter: Sendable {
    /// Called on the request's thread; must not block.
    func countRefusal(_ limit: LimitedUse)
}
