// SPDX-License-Identifier: Apache-2.0
package import AppBackend

/// How people were let in, or not. Sessions are counted where they are requests, at `/api/session`.
package struct LogInMetrics: LogInCounter {
    private let lookups = CounterFamily<LookupLabel>(
        MetricName(
            "app_backend_credential_cache_lookups_total",
            "Requests with the name and password of a user. A hit costs a microsecond, and a miss a password hash."))
    private let attempts = CounterFamily<AttemptLabel>(
        MetricName(
            "app_backend_logins_total",
            """
            Passwords to check, without those of the cache: verified, failed, throttled (too many failures \
            from that network), delayed (too many failures from all networks), or busy (too many at the same \
            time).
            """))
    private let guessedAccounts = CounterFamily<NoLabels>(
        MetricName(
            "app_backend_accounts_guessed_total",
            """
            Users whose password was tried more than twenty times from networks that are not theirs. The log \
            names them.
            """))

    var collectors: [any Collector] { [lookups, attempts, guessedAccounts] }

    package init() {}

    package func count(_ event: LogInEvent) {
        switch event {
        case .remembered: lookups.increment(.hit)
        case .notRemembered: lookups.increment(.miss)
        case .verified: attempts.increment(.verified)
        case .failed: attempts.increment(.failed)
        case .throttled: attempts.increment(.throttled)
        case .delayed: attempts.increment(.delayed)
        case .busy: attempts.increment(.busy)
        case .guessed: guessedAccounts.increment()
        }
    }
}

private enum LookupLabel: String, LabelSet, CaseIterable {
    static let names: [StaticString] = ["result"]
    case hit, miss
}

private enum AttemptLabel: String, LabelSet, CaseIterable {
    static let names: [StaticString] = ["result"]
    case verified, failed, throttled, delayed, busy
}
