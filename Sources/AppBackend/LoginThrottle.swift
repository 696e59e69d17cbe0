// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Slows down guessing: after so many wrong passwords for one name from one address, the next ones are not even
/// tried until the minute is over. Names that do not exist are counted like those that do.
///
/// Counting name and address together means that a stranger cannot lock a user out of his own device; whoever was
/// verified lately is found in the credential cache before this is asked.
package final class LoginThrottle: Sendable {
    /// Wrong attempts that one name and address have in one window.
    package static let maximumFailures = 10
    /// The window, in seconds, counted from its first failure.
    package static let windowSeconds: Int64 = 60
    /// Pairs of name and address that are watched at once; beyond it the ones whose window is over are dropped, and
    /// if that does not help all of them, for memory must not be the attacker's to fill.
    static let maximumEntries = 10_000

    private struct Window {
        var beganAt: Int64
        var failures: Int
    }

    private struct Key: Hashable {
        let name: String
        let address: String
    }

    private let windows = Mutex<[Key: Window]>([:])

    package init() {}

    /// - Returns: after how many seconds the next attempt is allowed; nil when it is allowed now.
    func waitingTime(name: String, address: String, now: Int64) -> Int? {
        windows.withLock { windows in
            guard let window = windows[Key(name: name, address: address)], !isOver(window, now),
                window.failures >= Self.maximumFailures
            else { return nil }
            return Int(clamping: Self.windowSeconds - (now - window.beganAt))
        }
    }

    func recordFailure(name: String, address: String, now: Int64) {
        windows.withLock { windows in
            if windows.count >= Self.maximumEntries {
                windows = windows.filter { !isOver($0.value, now) }
                if windows.count >= Self.maximumEntries { windows.removeAll() }
            }
            let key = Key(name: name, address: address)
            var window = windows[key] ?? Window(beganAt: now, failures: 0)
            if isOver(window, now) { window = Window(beganAt: now, failures: 0) }
            window.failures += 1
            windows[key] = window
        }
    }

    private func isOver(_ window: Window, _ now: Int64) -> Bool {
        now < window.beganAt || now - window.beganAt >= Self.windowSeconds
    }
}
