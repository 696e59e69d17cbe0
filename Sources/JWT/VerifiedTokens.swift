// SPDX-License-Identifier: Apache-2.0
import System
import Text

/// Remembers which tokens were verified, so that a signature is not verified at every request.
///
/// What it keeps of a token is a keyed hash (SipHash) under keys that this process drew at random. An entry counts until the token's
/// end, and only as long as the issuer's keys are those by which it was verified.
final class VerifiedTokens: Sendable {
    /// How many tokens are remembered; beyond it half of them, those that end first, are dropped.
    static let maximumEntries = 20_000

    struct Fingerprint: Hashable, Sendable {
        let low: UInt64
        let high: UInt64
    }

    struct Entry: Sendable {
        let user: String
        let roles: [String]
        /// The issuer's place among the trusted ones.
        let issuer: Int
        let keyVersion: Int
        /// In seconds since 1970: when it was verified, and from when the token is not accepted any more.
        let verifiedAt: Int64
        let end: Int64
    }

    /// Two of 64 bits, each with a key of its own: HMAC-SHA256 takes several times as long, and is asked at every request.
    private let hashes = (low: SipHash.random(), high: SipHash.random())
    private let entries = Lock<[Fingerprint: Entry]>([:])

    func fingerprint(of token: Substring) -> Fingerprint {
        var token = token
        // 128 bits: a blind guess takes 2^127 requests on average.
        return token.withUTF8 { Fingerprint(low: hashes.low.hash($0), high: hashes.high.hash($0)) }
    }

    /// - Parameter now: seconds since 1970.
    func entry(_ fingerprint: Fingerprint, now: Int64) -> Entry? {
        entries.withLock { entries in
            guard let entry = entries[fingerprint] else { return nil }
            // A clock that was set back must not make an entry live longer.
            guard now < entry.end, now >= entry.verifiedAt else {
                entries[fingerprint] = nil
                return nil
            }
            return entry
        }
    }

    func insert(_ entry: Entry, for fingerprint: Fingerprint) {
        entries.withLock { entries in
            entries[fingerprint] = entry
            entries.halve(above: Self.maximumEntries, by: \.end)
        }
    }

    func remove(_ fingerprint: Fingerprint) {
        entries.withLock { $0[fingerprint] = nil }
    }

    var count: Int { entries.withLock(\.count) }
}
