// SPDX-License-Identifier: Apache-2.0

/// Bytes that all users share. As long as half of it is free, any user may take it. Above that a user who has their share
/// already gets no more. So no user keeps the others out, however much they put in.
package struct SharedRoom: Equatable, Sendable {
    /// When a user who has filled their share may try again, in seconds.
    package static let retryAfterSeconds = 60

    package let total: Int
    /// What one user may have where more than the first half is taken.
    package let share: Int

    package init(total: Int, share: Int) {
        (self.total, self.share) = (total, share)
    }

    /// The first half: as long as no more is taken, it need not be counted which user has how much.
    package var free: Int { total / 2 }

    /// - Parameters:
    ///   - all: what all have.
    ///   - own: what the owner of the new bytes has; nil: they are no user's, and have no share.
    /// - Throws: `quotaExceeded`, where there is no room; `shareExceeded`, where there is none for that owner.
    package func check(adding size: Int, toAll all: Int, own: Int?) throws(StoreError) {
        guard size <= total - all else { throw .quotaExceeded }
        guard let own, size > free - all, size > share - own else { return }
        throw .shareExceeded(retryAfterSeconds: Self.retryAfterSeconds)
    }
}
