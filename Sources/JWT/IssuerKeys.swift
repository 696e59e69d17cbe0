// SPDX-License-Identifier: Apache-2.0
import System

/// Keeps the keys of one issuer, and keeps them fresh.
///
/// One fetch is under way at a time. Keys that are due are fetched while the old ones go on being used; after a day they are
/// waited for. When a fetch fails the last good keys stay, because an issuer that is away must not lock all users out.
final class IssuerKeys: Sendable {
    /// How long keys are used before they are fetched again, in seconds: what the issuer says, within these bounds.
    static let lifetimeSeconds: ClosedRange<Int> = 300...86_400
    /// The same where the issuer says nothing, in seconds.
    static let defaultLifetimeSeconds = 3_600
    /// Between two fetches that are made because of an unknown key id, in seconds: anybody can make up ids.
    static let coolDownSeconds = 300
    /// Keys that are younger, in seconds, are not fetched again because of an unknown key id.
    static let settledSeconds = 10
    static let backoff = Backoff(doubling: .seconds(1), to: .seconds(60))

    /// Keys as they are at one moment.
    struct Snapshot: Sendable {
        let keys: KeySet
        /// Another one when the keys have changed.
        let version: Int
    }

    enum Lookup {
        case found(Snapshot)
        case pending(KeyFetch)
        /// There are none. Not before so many seconds is it tried again.
        case unavailable(seconds: Int)
    }

    enum NewerLookup {
        case found(Snapshot)
        case pending(KeyFetch)
        /// There are none. The present ones were fetched so many seconds ago, and are not fetched again for `pause` seconds.
        case none(age: Int64, pause: Int)
    }

    fileprivate struct State {
        var current: Snapshot?
        var fetchedAt: ContinuousClock.Instant?
        var lifetime = 0
        /// Whether newer keys are to be waited for, whatever the age of the present ones.
        var isExpired = false
        var fetch: KeyFetch?
        var failures = 0
        /// No fetch before that.
        var pauseEnd: ContinuousClock.Instant?
        var unknownKeyAt: ContinuousClock.Instant?
    }

    private let source: any KeySource
    private let clock: @Sendable () -> ContinuousClock.Instant
    private let report: @Sendable (KeyEvent) -> Void
    private let state = Lock(State())

    /// - Parameter report: hears of each failed fetch, and of keys that are not used, once of a document.
    init(
        source: any KeySource, clock: @escaping @Sendable () -> ContinuousClock.Instant,
        report: @escaping @Sendable (KeyEvent) -> Void
    ) {
        (self.source, self.clock, self.report) = (source, clock, report)
    }

    /// The keys to verify by now.
    func current() -> Lookup {
        let now = clock()
        let (lookup, began) = state.withLock { state in state.lookUp(now) }
        if let began { fetch(began) }
        // A source that answers at once has ended by now.
        if case .pending(let pending) = lookup, began === pending, let current = settled() { return .found(current) }
        return lookup
    }

    /// Has the keys fetched again before they are used the next time. Where that fails, the old ones stay.
    func expire() { state.withLock { $0.isExpired = true } }

    /// The keys when no fetch is under way.
    private func settled() -> Snapshot? { state.withLock { $0.fetch == nil ? $0.current : nil } }

    /// Looks for keys that are newer than the ones in which a key id was missing.
    func newer(than snapshot: Snapshot) -> NewerLookup {
        let now = clock()
        let (lookup, began) = state.withLock { state in state.lookUpNewer(than: snapshot, now) }
        if let began { fetch(began) }
        guard case .pending(let pending) = lookup, began === pending, let current = settled() else { return lookup }
        return current.version == snapshot.version ? state.withLock { $0.none(now) } : .found(current)
    }

    private func fetch(_ fetch: KeyFetch) {
        source.fetch { [self] result in
            let now = clock()
            if let event = state.withLock({ $0.end(result, now) }) { report(event) }
            fetch.end()
        }
    }
}

extension IssuerKeys.State {
    fileprivate mutating func lookUp(
        _ now: ContinuousClock.Instant
    ) -> (IssuerKeys.Lookup, began: KeyFetch?) {
        guard let current, let fetchedAt else {
            guard let began = begin(now) else { return (wait(now), nil) }
            return (wait(now), began)
        }
        let age = fetchedAt.duration(to: now)
        guard isExpired || age >= .seconds(lifetime) else { return (.found(current), nil) }
        let began = begin(now)
        let isOverdue = isExpired || age >= .seconds(IssuerKeys.lifetimeSeconds.upperBound)
        return (isOverdue && fetch != nil ? wait(now) : .found(current), began)
    }

    fileprivate mutating func lookUpNewer(
        than snapshot: IssuerKeys.Snapshot, _ now: ContinuousClock.Instant
    ) -> (IssuerKeys.NewerLookup, began: KeyFetch?) {
        if let current, current.version != snapshot.version { return (.found(current), nil) }
        // One that is under way anyway may bring the key.
        if let fetch { return (fetch.join() ? .pending(fetch) : none(now), nil) }
        guard pause(now) == 0, let began = begin(now) else { return (none(now), nil) }
        unknownKeyAt = now
        return (began.join() ? .pending(began) : none(now), began)
    }

    fileprivate func none(_ now: ContinuousClock.Instant) -> IssuerKeys.NewerLookup {
        let age = fetchedAt.map { $0.duration(to: now).components } ?? (seconds: 0, attoseconds: 0)
        // Rounded up, or a token that was made a moment after the fetch would seem older than the keys.
        return .none(age: age.seconds + (age.attoseconds > 0 ? 1 : 0), pause: max(1, pause(now)))
    }

    /// In how many seconds a key id may lead to a fetch again.
    private func pause(_ now: ContinuousClock.Instant) -> Int {
        let ends = [
            fetchedAt.map { $0 + .seconds(IssuerKeys.settledSeconds) },
            unknownKeyAt.map { $0 + .seconds(IssuerKeys.coolDownSeconds) }, pauseEnd,
        ]
        guard let end = ends.compactMap(\.self).max(), now < end else { return 0 }
        return Int(now.duration(to: end).components.seconds) + 1
    }

    /// - Returns: the fetch that the caller must make now; nil when there is one, or a failure is too near.
    private mutating func begin(_ now: ContinuousClock.Instant) -> KeyFetch? {
        guard fetch == nil, pauseEnd.map({ $0 <= now }) ?? true else { return nil }
        let began = KeyFetch()
        fetch = began
        return began
    }

    private func wait(_ now: ContinuousClock.Instant) -> IssuerKeys.Lookup {
        if let fetch { return fetch.join() ? .pending(fetch) : .unavailable(seconds: 1) }
        let left = pauseEnd.map { Int(now.duration(to: $0).components.seconds) } ?? 0
        return .unavailable(seconds: max(1, left))
    }

    /// - Returns: what is to be reported.
    fileprivate mutating func end(
        _ result: Result<KeyDocument, KeyError>, _ now: ContinuousClock.Instant
    ) -> KeyEvent? {
        fetch = nil
        switch result {
        case .success(let document):
            let isSame = current?.keys.isSame(as: document.keys) == true
            if !isSame { current = IssuerKeys.Snapshot(keys: document.keys, version: (current?.version ?? 0) + 1) }
            let bounds = IssuerKeys.lifetimeSeconds
            lifetime = min(
                max(document.maximumAge ?? IssuerKeys.defaultLifetimeSeconds, bounds.lowerBound), bounds.upperBound)
            (fetchedAt, pauseEnd, failures, isExpired) = (now, nil, 0, false)
            return isSame || document.keys.skipped.isEmpty ? nil : .skipped(document.keys.skipped)
        case .failure(let error):
            pauseEnd = now + IssuerKeys.backoff.pause(after: failures)
            failures += 1
            return .failure(error)
        }
    }
}
