// SPDX-License-Identifier: Apache-2.0
import Store
import System
import Text

/// Notes when users were authenticated last, by whichever method.
///
/// A request neither waits for that nor fails by it: of a user one request an hour is noted, and a failure is passed over.
final class SeenUsers: Sendable {
    /// A request so soon after the one that was noted last is not noted, in seconds: each costs a line in the store.
    static let pauseSeconds: Int64 = 3_600
    /// What the store could not take is tried again after so many seconds.
    static let retrySeconds: Int64 = 60
    /// Users whose last note this process knows; beyond it half of them, the oldest, are dropped.
    static let maximumKnown = 10_000

    private let store: any StateStore
    private let now: @Sendable () -> Timestamp
    /// What this process has noted, in seconds, by owner. Of a user with a record it is asked when the record is old: many requests may
    /// come before the record is read again.
    private let known = Lock<[String: Int64]>([:])

    init(store: any StateStore, now: @escaping @Sendable () -> Timestamp) {
        (self.store, self.now) = (store, now)
    }

    func note(_ user: Principal) {
        let time = now()
        if let last = user.record?.lastSeenAt, !Self.isDue(last, time) { return }
        guard begin(user.owner, time) else { return }
        do throws(StoreError) {
            if let record = user.record {
                try store.noteSeen(record, at: time)
            } else {
                try store.noteSeen(LastSeen(owner: user.owner, at: time))
            }
        } catch {
            known.withLock { $0[user.owner] = time.seconds - Self.pauseSeconds + Self.retrySeconds }
        }
    }

    /// Whether this process has not noted the user lately. Then it has now: of many requests at once one returns true.
    private func begin(_ owner: String, _ time: Timestamp) -> Bool {
        known.withLock { known in
            if let last = known[owner], !Self.isDue(Timestamp(seconds: last), time) { return false }
            known[owner] = time.seconds
            known.halve(above: Self.maximumKnown) { $0 }
            return true
        }
    }

    /// A clock that was set back must not keep a later time for good.
    private static func isDue(_ last: Timestamp, _ time: Timestamp) -> Bool {
        last + pauseSeconds <= time || last > time
    }
}
