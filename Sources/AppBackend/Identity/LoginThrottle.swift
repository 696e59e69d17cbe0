// SPDX-License-Identifier: Apache-2.0
import System

/// Slows down guessing: after so many wrong passwords for one name from one network, the next ones are not even
/// tried until the minute is over. Names that do not exist are counted like those that do.
///
/// Counting name and network together means that a stranger cannot lock a user out of their own device. Credentials that
/// were verified lately are found in the credential cache before this is asked.
package final class LoginThrottle: Sendable {
    /// Wrong attempts that one name and network have in one window.
    package static let maximumFailures = 10
    /// The window, in seconds, counted from its first failure.
    package static let windowSeconds: Int64 = 60
    /// Pairs of name and network that are watched at once; beyond it the half with the fewest failures is dropped, so
    /// that filling it does not wipe out those that are being slowed down. Each failure cost its maker a hash, and
    /// two cores make fewer than this in a window.
    static let maximumEntries = 10_000

    /// Whether an attempt may be made.
    enum Admission: Equatable {
        /// It may be made; `recordResult` when it was.
        case admitted
        /// So many are being made that they could use up what is allowed. In a moment it is known.
        case busy
        /// Not before so many seconds.
        case refused(seconds: Int)
    }

    private struct Window {
        var beganAt: Int64
        var failures = 0
        /// Admitted and without a result.
        var pending = 0
    }

    private struct Key: Hashable {
        let name: String
        let network: ClientNetwork
    }

    private let windows = Lock<[Key: Window]>([:])

    package init() {}

    /// Asks for one attempt. Attempts at the same moment count each other, so that no more are made at once than would
    /// be one after the other.
    /// - Parameter now: seconds on the clock that cannot be set.
    func admit(name: String, network: ClientNetwork, now: Int64) -> Admission {
        windows.withLock { windows in
            let key = Key(name: name, network: network)
            var window = windows[key] ?? Window(beganAt: now)
            if isOver(window, now) { window = Window(beganAt: now, pending: window.pending) }
            guard window.failures < Self.maximumFailures else {
                return .refused(seconds: Int(clamping: Self.windowSeconds - (now - window.beganAt)))
            }
            guard window.failures + window.pending < Self.maximumFailures else { return .busy }
            if windows.count >= Self.maximumEntries { evict(&windows, now) }
            window.pending += 1
            windows[key] = window
            return .admitted
        }
    }

    /// Whether an attempt from that address would be refused.
    func refuses(name: String, address: String, now: Int64) -> Bool {
        windows.withLock { windows in
            guard !windows.isEmpty, let window = windows[Key(name: name, network: ClientNetwork(address))] else {
                return false
            }
            return !isOver(window, now) && window.failures + window.pending >= Self.maximumFailures
        }
    }

    /// The attempt that was admitted has ended.
    func recordResult(name: String, network: ClientNetwork, isFailure: Bool) {
        windows.withLock { windows in
            let key = Key(name: name, network: network)
            guard var window = windows[key] else { return }
            window.pending = max(0, window.pending - 1)
            if isFailure { window.failures += 1 }
            windows[key] = window.failures + window.pending > 0 ? window : nil
        }
    }

    private func evict(_ windows: inout [Key: Window], _ now: Int64) {
        windows = windows.filter { !isOver($0.value, now) || $0.value.pending > 0 }
        guard windows.count >= Self.maximumEntries else { return }
        windows.keepHighest(Self.maximumEntries / 2) { $0.failures }
    }

    private func isOver(_ window: Window, _ now: Int64) -> Bool {
        now - window.beganAt >= Self.windowSeconds
    }
}
