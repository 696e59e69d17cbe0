// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import AppBackend

struct CredentialCacheTests {
    @Test func `only the same name, password and hash are remembered`() {
        let cache = CredentialCache()
        cache.insert(cache.fingerprint(name: "alice", password: "pw", hash: "$y$1"), now: 0)
        #expect(cache.contains(cache.fingerprint(name: "alice", password: "pw", hash: "$y$1"), now: 1))
        for other in [
            ("alic", "epw", "$y$1"), ("alice", "pw2", "$y$1"), ("alice", "pw", "$y$2"), ("bob", "pw", "$y$1"),
        ] {
            #expect(!cache.contains(cache.fingerprint(name: other.0, password: other.1, hash: other.2), now: 1))
        }
    }

    @Test func `a success is forgotten when its time is over`() {
        let cache = CredentialCache()
        let tag = cache.fingerprint(name: "alice", password: "pw", hash: "$y$1")
        cache.insert(tag, now: 1000)
        #expect(cache.contains(tag, now: 1000 + CredentialCache.sharedSeconds - 1))
        #expect(!cache.contains(tag, now: 1000 + CredentialCache.sharedSeconds))
        let network = ClientNetwork("192.0.2.1")
        cache.insert(tag, at: network, now: 1000)
        #expect(cache.contains(tag, at: network, now: 1000 + CredentialCache.lifetimeSeconds - 1))
        #expect(!cache.contains(tag, at: ClientNetwork("192.0.3.1"), now: 1001))
        #expect(!cache.contains(tag, at: network, now: 1000 + CredentialCache.lifetimeSeconds))
    }

    @Test func `beyond its bound the oldest are dropped and the newest stay`() {
        let cache = CredentialCache()
        let tags = (0...CredentialCache.maximumEntries).map {
            cache.fingerprint(name: "user\($0)", password: "", hash: "")
        }
        for (index, tag) in tags.enumerated() { cache.insert(tag, now: Int64(index) / 1000) }
        let remembered = tags.count { cache.contains($0, now: 100) }
        #expect(remembered == CredentialCache.maximumEntries / 2)
        #expect(cache.contains(tags[CredentialCache.maximumEntries], now: 100))
    }

    @Test func `another process knows nothing of it`() {
        let one = CredentialCache()
        let other = CredentialCache()
        #expect(
            one.fingerprint(name: "a", password: "b", hash: "c")
                != other.fingerprint(name: "a", password: "b", hash: "c"))
    }
}
