// SPDX-License-Identifier: Apache-2.0
import System

/// Files of which something is known as long as they are what they were: an append changes a file's size, and a rewrite
/// makes another file.
final class KnownFiles: Sendable {
    /// Beyond so many, all are forgotten: they are read once more.
    private static let maximumFiles = 10_000

    private let identities = Lock<[String: FileIdentity]>([:])

    func insert(_ identity: FileIdentity, _ name: String) {
        identities.withLock { identities in
            if identities.count >= Self.maximumFiles { identities = [:] }
            identities[name] = identity
        }
    }

    func isKnown(_ identity: FileIdentity, _ name: String) -> Bool {
        identities.withLock { $0[name] } == identity
    }
}
