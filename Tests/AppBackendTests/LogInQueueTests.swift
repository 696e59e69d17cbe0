// SPDX-License-Identifier: Apache-2.0
import System
import Testing

@testable import AppBackend

struct LogInQueueTests {
    private let limits = LogInLimits(seconds: 240, attempts: 32)
    private let cache = CredentialCache()
    /// Holds every hash back until it is opened.
    private let gate = Latch()
    private let hashes = Hashes()

    /// What was hashed, in its order.
    private final class Hashes: Sendable {
        private let names = Lock<[String]>([])
        private let outcomes = Lock<[LogInAttempt.Outcome]>([])

        var all: [String] { names.withLock(\.self) }
        var allOutcomes: [LogInAttempt.Outcome] { outcomes.withLock(\.self) }
        func add(_ name: String) { names.withLock { $0.append(name) } }
        func note(_ outcome: LogInAttempt.Outcome) { outcomes.withLock { $0.append(outcome) } }
    }

    private func key(_ name: String, from address: String) -> LogInAttempt.Key {
        LogInAttempt.Key(
            credentials: cache.fingerprint(name: name, password: "", hash: ""), network: ClientNetwork(address))
    }

    private func attempt(
        _ name: String, from address: String, isKnown: Bool = false, until deadline: Deadline = .after(.seconds(240))
    ) -> LogInAttempt {
        LogInAttempt(
            key(name, from: address), site: ClientNetwork(address, .site), isFromKnownNetwork: isKnown,
            deadline: deadline, user: nil,
            verify: { [gate, hashes] in
                hashes.add(name)
                return gate.wait(for: .seconds(240))
            }, record: { [hashes] in hashes.note($0) })
    }

    private func enter(
        _ queue: LogInQueue, _ name: String, from address: String, isKnown: Bool = false,
        until deadline: Deadline = .after(.seconds(240))
    ) -> LogInAttempt {
        queue.enter(key(name, from: address)) { attempt(name, from: address, isKnown: isKnown, until: deadline) }
    }

    /// Waits for the end of all.
    private func outcomes(_ attempts: [LogInAttempt]) -> [LogInAttempt.Outcome?] {
        for attempt in attempts { attempt.wait() }
        return attempts.map(\.outcome)
    }

    @Test func `one network has a quarter of the places, and another still gets its turn`() {
        let queue = LogInQueue(limits)
        // All the addresses of one site.
        let crowd = (1...60).map { enter(queue, "user\($0)", from: "2001:db8:1:\($0)::1") }
        #expect(crowd.count { $0.outcome == .notMade } == 60 - limits.perNetwork)
        let others = (1...3).map { enter(queue, "other\($0)", from: "192.0.2.\($0)") }
        gate.open()
        #expect(outcomes(others) == [.right, .right, .right])
        #expect(outcomes(crowd).count { $0 == .right } == limits.perNetwork)
        // What was taken was given back, and a thread is there again.
        #expect(outcomes([enter(queue, "user1", from: "2001:db8:1::1")]) == [.right])
    }

    @Test func `one network has no more than its share where users are known`() {
        let queue = LogInQueue(limits)
        let crowd = (1...20).map { enter(queue, "user\($0)", from: "192.0.2.1", isKnown: $0 <= 10) }
        #expect(crowd.count { $0.outcome == .notMade } == 20 - limits.perNetwork)
        gate.open()
        #expect(outcomes(crowd).count { $0 == .right } == limits.perNetwork)
    }

    @Test func `all together have no more than there are, and networks where users are known have the last of them`() {
        let queue = LogInQueue(limits)
        let strangers = (1...40).map { enter(queue, "user\($0)", from: "192.0.2.\($0)") }
        #expect(strangers.count { $0.outcome == .notMade } == 40 - limits.strangers)
        let known = (1...40).map { enter(queue, "known\($0)", from: "192.0.2.\($0)", isKnown: true) }
        #expect(known.count { $0.outcome == .notMade } == 40 - (limits.attempts - limits.strangers))
        gate.open()
        #expect(outcomes(strangers + known).count { $0 == .right } == limits.attempts)
        #expect(hashes.all.count == limits.attempts)
        #expect(hashes.allOutcomes.count == 80)
    }

    @Test func `requests with the same credentials from one network wait for one hash`() {
        let queue = LogInQueue(limits)
        let resumed = Semaphore()
        let attempts = (1...64).map { _ in enter(queue, "alice", from: "192.0.2.1") }
        for attempt in attempts { attempt.onEnd { resumed.signal() } }
        let elsewhere = enter(queue, "alice", from: "192.0.2.2")
        gate.open()
        for _ in attempts { #expect(resumed.wait(for: .seconds(240))) }
        #expect(outcomes(attempts + [elsewhere]).allSatisfy { $0 == .right })
        #expect(hashes.all == ["alice", "alice"])
        #expect(!resumed.wait(for: .zero))
    }

    @Test func `of four turns one is that of networks without a known user`() {
        var lines = LogInLines()
        for number in 1...9 { lines.append(attempt("known\(number)", from: "192.0.2.\(number)", isKnown: true)) }
        for number in 1...2 { lines.append(attempt("new\(number)", from: "198.51.100.\(number)")) }
        var order = ""
        while let next = lines.next() { order += next.isFromKnownNetwork ? "k" : "n" }
        #expect(order == "kkknkkknkkk")
    }

    @Test func `networks where users are known go first, and networks take turns`() {
        var lines = LogInLines()
        for number in 1...3 { lines.append(attempt("crowd\(number)", from: "192.0.2.1")) }
        lines.append(attempt("one", from: "192.0.2.2"))
        lines.append(attempt("two", from: "192.0.2.2"))
        lines.append(attempt("home", from: "192.0.2.3", isKnown: true))
        lines.append(attempt("home2", from: "192.0.2.3", isKnown: true))
        lines.append(attempt("office", from: "192.0.2.1", isKnown: true))
        lines.append(attempt("late", from: "192.0.2.4", until: .now))
        #expect(lines.overdue(at: .now).map(\.key) == [key("late", from: "192.0.2.4")])
        var order: [LogInAttempt.Key] = []
        while let next = lines.next() { order.append(next.key) }
        let names = [
            ("home", 3), ("office", 1), ("home2", 3), ("crowd1", 1), ("one", 2), ("crowd2", 1), ("two", 2),
            ("crowd3", 1),
        ]
        #expect(order == names.map { key($0.0, from: "192.0.2.\($0.1)") })
    }

    @Test func `what is overdue is not hashed`() {
        let queue = LogInQueue(limits)
        let before = enter(queue, "before", from: "192.0.2.1", until: .now)
        let ended = Latch()
        before.onEnd { ended.open() }
        #expect(ended.wait(for: .seconds(240)))
        #expect(before.outcome == .notMade && hashes.all.isEmpty && hashes.allOutcomes == [.notMade])
    }

    @Test func `an attempt that is refused leaves nothing behind`() throws {
        struct Refusal: Error {}
        let queue = LogInQueue(limits)
        #expect(throws: Refusal.self) {
            try queue.enter(key("alice", from: "192.0.2.1")) { throw Refusal() }
        }
        gate.open()
        #expect(outcomes([enter(queue, "alice", from: "192.0.2.1")]) == [.right])
    }
}
