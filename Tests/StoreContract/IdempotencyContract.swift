// SPDX-License-Identifier: Apache-2.0
import Dispatch
package import Store
import Synchronization
import Testing
internal import Text

/// What every store of idempotency keys must do, whatever it keeps them in. Cap: 4 keys per owner.
package struct IdempotencyContract {
    private let store: any IdempotencyStore

    package init(store: any IdempotencyStore) { self.store = store }

    package func runAll() throws {
        try claims()
        try answers()
        try releases()
        try owners()
        try expiry()
        try oldestAnswers()
        try quota()
        try simultaneousClaims()
    }

    private static let answer = KeptAnswer(status: 200, contentType: "application/json", body: #"{"Outcomes":[]}"#)

    private func request(_ key: String, _ owner: String, after seconds: Int64 = 0) -> IdempotentRequest {
        IdempotentRequest(
            owner: owner, key: key, fingerprint: "f-" + key, createdAt: noon + seconds, expiresAt: nextDay + seconds)
    }

    private func claim(_ request: IdempotentRequest) throws -> IdempotentRequest? {
        try store.claimIdempotencyKey(request, now: request.createdAt)
    }

    /// - Returns: the request with the answer that is kept of it.
    @discardableResult private func answer(_ request: IdempotentRequest) throws -> IdempotentRequest {
        var answered = request
        answered.answer = Self.answer
        try store.keepAnswer(of: answered)
        return answered
    }

    func claims() throws {
        let first = request("k1", "cleo")
        #expect(try claim(first) == nil)
        #expect(try claim(first) == first)
        // The claim that comes second gets the first request, whatever it asks for itself.
        var other = request("k1", "cleo", after: 9)
        other.fingerprint = "another"
        #expect(try claim(other) == first)
        #expect(try claim(request("k2", "cleo")) == nil)
    }

    func answers() throws {
        var strange = request("../\"é\n\\", "o\"wner\n")
        #expect(try claim(strange) == nil)
        strange.answer = KeptAnswer(status: 503, contentType: "", body: "{\"é\":\"\\\"\n\u{0}\"}")
        try store.keepAnswer(of: strange)
        #expect(try claim(strange) == strange)
        let empty = request("empty", strange.owner)
        #expect(try claim(empty) == nil)
        var answered = empty
        answered.answer = KeptAnswer(status: 204, contentType: "", body: "")
        try store.keepAnswer(of: answered)
        #expect(try claim(empty) == answered)
        #expect(try claim(strange) == strange)
    }

    func releases() throws {
        let first = request("r1", "rick")
        #expect(try claim(first) == nil)
        try store.releaseIdempotencyKey("r1", owner: "rick")
        try store.releaseIdempotencyKey("r1", owner: "rick")
        try store.releaseIdempotencyKey("never", owner: "nobody")
        let again = request("r1", "rick", after: 1)
        #expect(try claim(again) == nil)
        #expect(try claim(first) == again)
        let answered = try answer(again)
        #expect(try claim(first) == answered)
    }

    func owners() throws {
        let hers = request("o1", "olga")
        #expect(try claim(hers) == nil)
        #expect(try claim(request("o1", "otto")) == nil)
        try store.releaseIdempotencyKey("o1", owner: "otto")
        #expect(try claim(hers) == hers)
        // They only look alike.
        #expect(try claim(request("o1", "andr\u{E9}")) == nil)
        #expect(try claim(request("o1", "andre\u{301}")) == nil)
    }

    func expiry() throws {
        let first = request("e1", "emma")
        #expect(try claim(first) == nil)
        #expect(try store.claimIdempotencyKey(request("e1", "emma", after: 86_399), now: nextDay + -1) == first)
        let second = request("e1", "emma", after: 86_400)
        #expect(try claim(second) == nil)
        #expect(try claim(second) == second)
    }

    func oldestAnswers() throws {
        let waiting = request("a-waiting", "adam")
        #expect(try claim(waiting) == nil)
        var answered: [IdempotentRequest] = []
        for number in 1...6 {
            let one = request("a\(number)", "adam", after: Int64(number))
            #expect(try claim(one) == nil)
            answered.append(try answer(one))
        }
        // One without an answer is never forgotten, however old it is.
        #expect(try claim(waiting) == waiting)
        for one in answered.suffix(3) { #expect(try claim(one) == one) }
        #expect(try claim(request("a3", "adam", after: 9)) == nil)
    }

    func quota() throws {
        let waiting = (0..<4).map { request("q\($0)", "quinn", after: Int64($0)) }
        for one in waiting { #expect(try claim(one) == nil) }
        #expect(throws: StoreError.quotaExceeded) { try claim(request("q4", "quinn", after: 4)) }
        // A claim to a key that is taken gets the request that has it all the same.
        #expect(try claim(waiting[0]) == waiting[0])
        #expect(try claim(request("q4", "quincy")) == nil)
        try answer(waiting[1])
        #expect(try claim(request("q4", "quinn", after: 4)) == nil)
        #expect(throws: StoreError.quotaExceeded) { try claim(request("q5", "quinn", after: 5)) }
        try store.releaseIdempotencyKey("q4", owner: "quinn")
        #expect(try claim(request("q5", "quinn", after: 5)) == nil)
        // An expired key does not count.
        #expect(try claim(request("q6", "quinn", after: 86_400)) == nil)
    }

    /// Each thread wants to be the one that acts.
    func simultaneousClaims() throws {
        for round in 0..<3 {
            let winners = Atomic<Int>(0)
            let failures = Atomic<Int>(0)
            DispatchQueue.concurrentPerform(iterations: 12) { number in
                do {
                    let holder = try claim(request("s\(round)", "sally", after: Int64(number)))
                    if holder == nil { winners.add(1, ordering: .relaxed) }
                } catch {
                    failures.add(1, ordering: .relaxed)
                }
            }
            #expect(winners.load(ordering: .relaxed) == 1 && failures.load(ordering: .relaxed) == 0)
        }
    }
}
