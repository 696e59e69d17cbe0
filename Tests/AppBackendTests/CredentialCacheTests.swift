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

    @Test func `a success is forgotten when its time is over or the clock was set back`() {
        let cache = CredentialCache()
        let tag = cache.fingerprint(name: "alice", password: "pw", hash: "$y$1")
        cache.insert(tag, now: 1000)
        #expect(cache.contains(tag, now: 1000 + CredentialCache.lifetimeSeconds - 1))
        #expect(!cache.contains(tag, now: 1000 + CredentialCache.lifetimeSeconds))
        cache.insert(tag, now: 1000)
        #expect(!cache.contains(tag, now: 999))
    }

    @Test func `beyond its bound the oldest are dropped and the newest stay`() {
        let cache = CredentialCache()
        let tags = (0...CredentialCache.maximumEntries).map {
            cache.fingerprint(name: "user\($0)", password: "", hash: "")
        }
        for (index, tag) in tags.enumerated() { cache.insert(tag, now: Int64(index) / 1000) }
        let remembered = tags.count { cache.contains($0, now: 10) }
        #expect(remembered == CredentialCache.maximumEntries / 2)
        #expect(cache.contains(tags[CredentialCache.maximumEntries], now: 10))
    }

    @Test func `another process knows nothing of it`() {
        let one = CredentialCache()
        let other = CredentialCache()
        #expect(
            one.fingerprint(name: "a", password: "b", hash: "c")
                != other.fingerprint(name: "a", password: "b", hash: "c"))
    }
}

struct LoginThrottleTests {
    private func network(_ address: String) -> ClientNetwork { ClientNetwork(address) }

    private func fail(_ throttle: LoginThrottle, _ name: String, _ address: String, _ times: Int, now: Int64) -> Int {
        (0..<times).count { _ in throttle.admit(name: name, network: network(address), now: now) == nil }
    }

    @Test func `after so many failures one name from one network waits, and nobody else`() {
        let throttle = LoginThrottle()
        #expect(fail(throttle, "alice", "192.0.2.1", 30, now: 100) == LoginThrottle.maximumFailures)
        #expect(throttle.admit(name: "alice", network: network("192.0.2.1"), now: 110) == 50)
        #expect(throttle.admit(name: "alice", network: network("192.0.2.2"), now: 110) == nil)
        #expect(throttle.admit(name: "bob", network: network("192.0.2.1"), now: 110) == nil)
        #expect(throttle.admit(name: "alice", network: network("192.0.2.1"), now: 160) == nil)
    }

    @Test func `a success costs nothing`() {
        let throttle = LoginThrottle()
        for _ in 0..<100 {
            #expect(throttle.admit(name: "alice", network: network("192.0.2.1"), now: 0) == nil)
            throttle.takeBack(name: "alice", network: network("192.0.2.1"))
        }
    }

    @Test func `the addresses of one IPv6 network count together`() {
        let throttle = LoginThrottle()
        for number in 0..<LoginThrottle.maximumFailures {
            #expect(throttle.admit(name: "alice", network: network("2001:db8::\(number)"), now: 0) == nil)
        }
        #expect(throttle.admit(name: "alice", network: network("2001:db8:0:0:ffff::1"), now: 0) != nil)
        #expect(throttle.admit(name: "alice", network: network("2001:db8:0:1::1"), now: 0) == nil)
        #expect(network("::ffff:192.0.2.1") == network("::FFFF:c000:201"))
        #expect(network("::ffff:192.0.2.1") != network("::ffff:192.0.2.2"))
    }

    @Test func `strangers cannot wipe out who is being slowed down`() {
        let throttle = LoginThrottle()
        _ = fail(throttle, "alice", "192.0.2.1", LoginThrottle.maximumFailures, now: 0)
        for index in 0..<LoginThrottle.maximumEntries * 2 {
            _ = throttle.admit(name: "user\(index)", network: network("192.0.2.9"), now: 1)
        }
        #expect(throttle.admit(name: "alice", network: network("192.0.2.1"), now: 1) != nil)
    }
}
