// SPDX-License-Identifier: Apache-2.0
import System

/// How many passwords are hashed at the same time, and how many may wait for it: in all, and from one network.
package final class HashingSlots: Sendable {
    /// Passwords that are hashed at the same time: each costs a core and up to 16 MiB.
    static let maximumParallelHashes: UInt32 = 2
    /// Attempts that may wait or be hashed at the same time. Each of them holds a worker, and the workers belong to
    /// those who are known already; the next attempt is refused at once.
    static let maximumAttempts = 32
    /// Of these, attempts from one network: one that makes many leaves room for the others.
    static let maximumAttemptsPerNetwork = maximumAttempts / 4
    /// How long an attempt waits for a free slot, in seconds, before it is refused.
    package static let waitSeconds = 2

    private struct Attempts {
        var total = 0
        /// Of networks that have any: at most `maximumAttempts`.
        var byNetwork: [ClientNetwork: Int] = [:]
    }

    private let attempts = Lock(Attempts())
    private let slots = Semaphore(value: maximumParallelHashes)
    private let waitSeconds: Int

    init(waitSeconds: Int = HashingSlots.waitSeconds) {
        self.waitSeconds = waitSeconds
    }

    /// Carries out `hash` when a slot is free.
    /// - Parameter address: the peer's.
    /// - Returns: nil, when too many others are at it; then it was not called.
    func run<Result>(from address: String, _ hash: () -> Result) -> Result? {
        let network = ClientNetwork(address, .site)
        guard take(network) else { return nil }
        defer { giveBack(network) }
        guard slots.wait(for: .seconds(waitSeconds)) else { return nil }
        defer { slots.signal() }
        return hash()
    }

    private func take(_ network: ClientNetwork) -> Bool {
        attempts.withLock { attempts in
            let count = attempts.byNetwork[network, default: 0]
            guard attempts.total < Self.maximumAttempts, count < Self.maximumAttemptsPerNetwork else { return false }
            attempts.total += 1
            attempts.byNetwork[network] = count + 1
            return true
        }
    }

    private func giveBack(_ network: ClientNetwork) {
        attempts.withLock { attempts in
            let count = attempts.byNetwork[network, default: 0] - 1
            attempts.total -= 1
            attempts.byNetwork[network] = count > 0 ? count : nil
        }
    }
}
