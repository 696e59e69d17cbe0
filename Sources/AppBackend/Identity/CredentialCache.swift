// SPDX-License-Identifier: Apache-2.0
import System
import Text

/// Remembers which credentials were right, so that a password is not hashed (15 ms) at every request (1 µs).
///
/// What it keeps is a keyed hash (SipHash) under keys that this process drew at random, over name, password and stored
/// hash: nothing that tells a password, and nothing that is still found once the user's hash has changed. Only
/// successes are kept. It is bounded in size and in time.
package final class CredentialCache: Sendable {
    /// How long a success is remembered at the network that it came from, in seconds.
    package static let lifetimeSeconds: Int64 = 86_400
    /// How long a success counts wherever the next request comes from, in seconds: a request with a password that is remembered
    /// tells that it is right, and no count of attempts slows that down.
    package static let sharedSeconds: Int64 = 300
    /// How many successes are remembered; beyond it half of them, the oldest, are dropped.
    package static let maximumEntries = 100_000

    /// Two of 64 bits, each with a key of its own: HMAC-SHA256 takes eight times as long, and is asked at every request.
    private let hashes: (low: SipHash, high: SipHash)
    private let verifiedAt = Lock<[Entry: Int64]>([:])

    package init() {
        hashes = (SipHash.random(), SipHash.random())
    }

    /// The fingerprint of one triple of name, password and hash.
    struct Fingerprint: Hashable, Sendable {
        let low: UInt64
        let high: UInt64
    }

    private struct Entry: Hashable {
        let fingerprint: Fingerprint
        /// Nil: wherever it came from.
        let network: ClientNetwork?
    }

    func fingerprint(name: String, password: String, hash: String) -> Fingerprint {
        // Neither a name nor a hash holds a NUL, so no two triples run together.
        var text: [UInt8] = []
        text.reserveCapacity(name.utf8.count + hash.utf8.count + password.utf8.count + 3)
        func add(_ part: String) {
            text.append(contentsOf: part.utf8)
            text.append(0)
        }
        add(name)
        add(hash)
        add(password)
        // 128 bits: a blind guess takes 2^127 requests on average.
        return text.withUnsafeBufferPointer { Fingerprint(low: hashes.low.hash($0), high: hashes.high.hash($0)) }
    }

    /// Whether the credentials were found to be right lately.
    /// - Parameters:
    ///   - network: where; nil: anywhere.
    ///   - now: seconds on the clock that cannot be set.
    func contains(_ fingerprint: Fingerprint, at network: ClientNetwork? = nil, now: Int64) -> Bool {
        let entry = Entry(fingerprint: fingerprint, network: network)
        return verifiedAt.withLock { entries in
            guard let time = entries[entry] else { return false }
            guard now - time < (network == nil ? Self.sharedSeconds : Self.lifetimeSeconds) else {
                entries[entry] = nil
                return false
            }
            return true
        }
    }

    func insert(_ fingerprint: Fingerprint, at network: ClientNetwork? = nil, now: Int64) {
        verifiedAt.withLock { entries in
            entries[Entry(fingerprint: fingerprint, network: network)] = now
            entries.halve(above: Self.maximumEntries) { $0 }
        }
    }
}
