// SPDX-License-Identifier: Apache-2.0
import System

/// What each user has done lately, as far as it is limited. It outlives a reload, which may change the limits.
///
/// Rates are token buckets, each of which is one moment: when it will be full again.
package final class UserMeter: Sendable {
    /// Buckets that are kept at once, some 100 bytes each. Beyond it the full ones are dropped, and then the half that is
    /// fullest: so a user who has emptied one cannot have it refilled by a crowd.
    static let maximumBuckets = 30_000
    /// What a list is taken to be when that user's last one was smaller, in bytes.
    static let listBytes = 256 << 10
    /// Maximum number of users whose large list size is remembered. Above it, all entries are dropped.
    static let maximumLongLists = 1_000

    typealias Limit = LimitedUse

    private struct Bucket: Hashable {
        let owner: String
        let limit: Limit
    }

    private let fullAt = Lock<[Bucket: ContinuousClock.Instant]>([:])
    /// Of users who have any: at most one for each request that is carried out or waits for the hub.
    private let underWay = Lock<[String: Int]>([:])
    private let longLists = Lock<[String: Int]>([:])
    private let counter: (any LimitCounter)?
    private let now: @Sendable () -> ContinuousClock.Instant

    /// - Parameter now: a clock that is not set.
    package init(
        metrics: (any LimitCounter)? = nil, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        counter = metrics
        self.now = now
    }

    /// Takes one request out of a user's bucket.
    /// - Returns: nil when it may be made; otherwise the seconds until the next one may be.
    func take(_ limit: Limit, of owner: String, _ rate: UserLimits.Rate) -> Int? {
        guard rate.perMinute > 0 else { return nil }
        let (bucket, time) = (Bucket(owner: owner, limit: limit), now())
        let wait = fullAt.withLock { fullAt -> Int? in
            var full = fullAt[bucket]
            let wait = TokenBucket.take(from: &full, perMinute: rate.perMinute, atOnce: rate.atOnce, at: time)
            guard wait == nil else { return wait }
            if fullAt.count >= Self.maximumBuckets, fullAt[bucket] == nil { Self.evict(&fullAt, time) }
            fullAt[bucket] = full
            return nil
        }
        if wait != nil { counter?.countRefusal(limit) }
        return wait
    }

    private static func evict(_ fullAt: inout [Bucket: ContinuousClock.Instant], _ time: ContinuousClock.Instant) {
        fullAt = fullAt.filter { $0.value > time }
        guard fullAt.count >= maximumBuckets else { return }
        // The emptiest.
        fullAt.keepHighest(maximumBuckets / 2) { $0 }
    }

    /// Begins to work on so many bytes of a user's; `end` when it is done. The first is let in however many they are.
    /// - Returns: false, when there would be too many.
    func begin(_ bytes: Int, of owner: String, atMost limit: Int) -> Bool {
        let isAdmitted = underWay.withLock { underWay in
            let before = underWay[owner] ?? 0
            guard before == 0 || bytes <= limit - before else { return false }
            underWay[owner] = before + bytes
            return true
        }
        if !isAdmitted { counter?.countRefusal(.bytes) }
        return isAdmitted
    }

    func end(_ bytes: Int, of owner: String) {
        underWay.withLock { underWay in
            let rest = (underWay[owner] ?? 0) - bytes
            underWay[owner] = rest > 0 ? rest : nil
        }
    }

    /// How large a user's list is taken to be before it is made: as the last one was.
    func expectedListBytes(of owner: String) -> Int {
        longLists.withLock { $0[owner] } ?? Self.listBytes
    }

    func noteList(_ bytes: Int, of owner: String) {
        longLists.withLock { longLists in
            guard bytes > Self.listBytes else { return longLists[owner] = nil }
            if longLists.count >= Self.maximumLongLists { longLists.removeAll() }
            longLists[owner] = bytes
        }
    }
}
