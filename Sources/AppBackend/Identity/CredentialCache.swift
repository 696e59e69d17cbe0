// SPDX-License-Identifier: Apache-2.0
import Crypto
import System

/// Remembers which credentials were right, so that a password is not hashed (15 ms) at every request (1 µs).
///
/// What it keeps is an HMAC-SHA256 under a key that this process drew at random, over name, password and stored
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

    /// With the key already in it, which is half the work of a short text.
    private let keyed = HMAC<SHA256>(key: SymmetricKey(size: .bits256))
    private let verifiedAt = Lock<[Entry: Int64]>([:])

    package init() {}

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
        for part in [name, hash, password] {
            text.append(contentsOf: part.utf8)
            text.append(0)
        }
        var hmac = keyed
        hmac.update(data: text)
        // 128 of the 256 bits: a blind guess takes 2^127 requests on average.
        return hmac.finalize().withUnsafeBytes { bytes in
            Fingerprint(
                low: bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self),
                high: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        }
    }

    /// Whether the credentials were found to be right lately.
    /// - Parameters:
    ///   - network: where; nil: anywhere.
    ///   - now: seconds of any clock that only the caller must keep to.
    func contains(_ fingerprint: Fingerprint, at network: ClientNetwork? = nil, now: Int64) -> Bool {
        let entry = Entry(fingerprint: fingerprint, network: network)
        return verifiedAt.withLock { entries in
            guard let time = entries[entry] else { return false }
            // A clock that was set back must not make an entry live longer.
            guard now >= time, now - time < (network == nil ? Self.sharedSeconds : Self.lifetimeSeconds) else {
                entries[entry] = nil
                return false
            }
            return true
        }
    }

    func insert(_ fingerprint: Fingerprint, at network: ClientNetwork? = nil, now: Int64) {
        verifiedAt.withLock { entries in
            entries[Entry(fingerprint: fingerprint, network: network)] = now
            guard entries.count > Self.maximumEntries else { return }
            entries.keepHighest(Self.maximumEntries / 2) { $0 }
        }
    }
}
