// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import AppBackend

struct LoginThrottleTests {
    private func network(_ address: String) -> ClientNetwork { ClientNetwork(address) }

    /// - Returns: how many of these attempts, one after the other and all wrong, were admitted.
    private func fail(_ throttle: LoginThrottle, _ name: String, _ address: String, _ times: Int, now: Int64) -> Int {
        (0..<times).count { _ in
            guard throttle.admit(name: name, network: network(address), now: now) == .admitted else { return false }
            throttle.recordResult(name: name, network: network(address), isFailure: true)
            return true
        }
    }

    @Test func `after so many failures one name from one network waits, and no other`() {
        let throttle = LoginThrottle()
        #expect(fail(throttle, "alice", "192.0.2.1", 30, now: 100) == LoginThrottle.maximumFailures)
        #expect(throttle.admit(name: "alice", network: network("192.0.2.1"), now: 110) == .refused(seconds: 50))
        #expect(throttle.admit(name: "alice", network: network("192.0.2.2"), now: 110) == .admitted)
        #expect(throttle.admit(name: "bob", network: network("192.0.2.1"), now: 110) == .admitted)
        #expect(throttle.admit(name: "alice", network: network("192.0.2.1"), now: 160) == .admitted)
    }

    @Test func `a success costs nothing`() {
        let throttle = LoginThrottle()
        for _ in 0..<100 {
            #expect(throttle.admit(name: "alice", network: network("192.0.2.1"), now: 0) == .admitted)
            throttle.recordResult(name: "alice", network: network("192.0.2.1"), isFailure: false)
        }
    }

    @Test func `attempts at the same moment are no more than one after the other`() {
        let throttle = LoginThrottle()
        let admissions = (0..<60).map { _ in
            throttle.admit(name: "alice", network: network("192.0.2.1"), now: 0)
        }
        #expect(admissions.count { $0 == .admitted } == LoginThrottle.maximumFailures)
        // Whether they are failures is not known yet, so none has to wait a minute.
        #expect(admissions.last == .busy)
        for _ in 0..<LoginThrottle.maximumFailures {
            throttle.recordResult(name: "alice", network: network("192.0.2.1"), isFailure: false)
        }
        #expect(throttle.admit(name: "alice", network: network("192.0.2.1"), now: 1) == .admitted)
    }

    @Test func `the addresses of one IPv6 network count together`() {
        let throttle = LoginThrottle()
        for number in 0..<LoginThrottle.maximumFailures {
            #expect(fail(throttle, "alice", "2001:db8::\(number)", 1, now: 0) == 1)
        }
        #expect(fail(throttle, "alice", "2001:db8:0:0:ffff::1", 1, now: 0) == 0)
        #expect(fail(throttle, "alice", "2001:db8:0:1::1", 1, now: 0) == 1)
        #expect(network("::ffff:192.0.2.1") == network("::FFFF:c000:201"))
        #expect(network("::ffff:192.0.2.1") != network("::ffff:192.0.2.2"))
    }

    @Test func `strangers cannot wipe out who is being slowed down`() {
        let throttle = LoginThrottle()
        _ = fail(throttle, "alice", "192.0.2.1", LoginThrottle.maximumFailures, now: 0)
        for index in 0..<LoginThrottle.maximumEntries * 2 {
            _ = fail(throttle, "user\(index)", "192.0.2.9", 1, now: 1)
        }
        #expect(fail(throttle, "alice", "192.0.2.1", 1, now: 1) == 0)
    }
}
