// SPDX-License-Identifier: Apache-2.0
import FileStore
import Foundation
import Store
import Synchronization
import Testing
import Text

import class System.Lock

/// Idempotency keys in files: what the contract cannot see.
@Suite struct IdempotencyTests {
    private func request(
        _ key: String, _ owner: String = "ann", after seconds: Int64 = 0, answer: KeptAnswer? = nil
    ) -> IdempotentRequest {
        IdempotentRequest(
            owner: owner, key: key, fingerprint: "f1", answer: answer, createdAt: noon + seconds,
            expiresAt: nextDay + seconds)
    }

    private static let answer = KeptAnswer(status: 200, contentType: "application/json", body: #"{"Id":7}"#)

    @Test func `a claim and its answer read as the documentation shows them`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open()
        #expect(try store.claimIdempotencyKey(request("k1"), now: noon) == nil)
        try store.keepAnswer(of: request("k1", answer: Self.answer))
        let lines = try folder.text(try #require(try folder.files(under: "idempotency").first)).split(separator: "\n")
        let claim =
            #"{"id":"k1","owner":"ann","fingerprint":"f1","createdAt":"2027-01-15T08:00:00Z","#
            + #""expiresAt":"2027-01-16T08:00:00Z","#
        #expect(lines.count == 2 && lines[0].hasPrefix(claim + #""crc":""#))
        #expect(
            lines[1].hasPrefix(
                claim + #""status":200,"contentType":"application/json","body":"{\"Id\":7}","crc":""#))
    }

    @Test(arguments: [128 << 10, 900])
    func `of all claims to a key in two processes exactly one gets it, and the others get its answer`(
        bucketBytes: Int
    ) throws {
        let folder = try TemporaryFolder()
        let stores = try (0..<2).map { _ in try folder.open { $0.bucketBytes = bucketBytes } }
        let winners = Lock<[String: Int]>([:])
        let wrong = Atomic<Int>(0)
        DispatchQueue.concurrentPerform(iterations: 8) { number in
            for round in 0..<25 {
                let key = "k\(round)"
                do {
                    let store = stores[number % 2]
                    guard let holder = try store.claimIdempotencyKey(request(key), now: noon) else {
                        winners.withLock { $0[key, default: 0] += 1 }
                        try store.keepAnswer(of: request(key, answer: Self.answer))
                        continue
                    }
                    let isRight = holder == request(key) || holder == request(key, answer: Self.answer)
                    if !isRight { wrong.add(1, ordering: .relaxed) }
                } catch {
                    wrong.add(1, ordering: .relaxed)
                }
            }
        }
        #expect(winners.withLock(\.self) == Dictionary(uniqueKeysWithValues: (0..<25).map { ("k\($0)", 1) }))
        #expect(wrong.load(ordering: .relaxed) == 0)
        for store in stores {
            #expect(try store.claimIdempotencyKey(request("k0"), now: noon) == request("k0", answer: Self.answer))
        }
    }

    @Test func `a claim, an answer and a release are flushed before their calls return, and a repeat writes nothing`()
        throws
    {
        let folder = try TemporaryFolder()
        let flushes = FlushCount()
        let store = try folder.open { $0.calls = flushes.counting }
        #expect(try flushes.during { _ = try store.claimIdempotencyKey(request("k"), now: noon) } == 1)
        #expect(try flushes.during { _ = try store.claimIdempotencyKey(request("k"), now: noon) } == 0)
        #expect(try flushes.during { try store.keepAnswer(of: request("k", answer: Self.answer)) } == 1)
        #expect(try flushes.during { try store.releaseIdempotencyKey("k", owner: "ann") } == 1)
        #expect(try flushes.during { try store.releaseIdempotencyKey("k", owner: "ann") } == 0)
    }

    @Test func `an owner who sends all day keeps nearly as many keys as one may have, the newest`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open { ($0.quotas.idempotencyKeysPerOwner, $0.bucketBytes) = (40, 4_000) }
        for number in 0..<200 {
            let one = request("k\(number)", after: Int64(number), answer: Self.answer)
            #expect(try store.claimIdempotencyKey(one, now: noon) == nil)
            try store.keepAnswer(of: one)
            let kept = max(0, number - 34)...number
            let oldest = request("k\(kept.lowerBound)", after: Int64(kept.lowerBound), answer: Self.answer)
            #expect(try store.claimIdempotencyKey(oldest, now: noon) == oldest)
        }
        let known = try (0..<200).count { number in
            let key = "k\(number)"
            guard try store.claimIdempotencyKey(request(key), now: noon) == nil else { return true }
            try store.releaseIdempotencyKey(key, owner: "ann")
            return false
        }
        #expect((35...40).contains(known))
    }

    @Test func `a sweep takes expired keys and their answers from the disk`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open()
        for key in ["early", "late"] {
            let one = request(key, after: key == "late" ? 9 : 0, answer: Self.answer)
            _ = try store.claimIdempotencyKey(one, now: noon)
            try store.keepAnswer(of: one)
        }
        while try !store.sweep(budget: 1_000, now: nextDay).finishedRound {}
        let text = try folder.files(under: "idempotency").map(folder.text).joined()
        #expect(!text.contains("early") && text.contains("late"))
    }

    @Test func `an answer with a status that HTTP does not have is a broken line, and its key is free`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open()
        _ = try store.claimIdempotencyKey(request("k", answer: Self.answer), now: noon)
        let file = try #require(try folder.files(under: "idempotency").first)
        let text = try folder.text(file).replacingOccurrences(of: #""status":200"#, with: #""status":70000"#)
        try folder.write(text, to: file)
        #expect(try store.verify(now: noon).faultyLines == 1)
        #expect(try store.claimIdempotencyKey(request("k"), now: noon) == nil)
    }

    @Test func `a store of an earlier version gets the table when it is opened`() throws {
        let folder = try TemporaryFolder()
        _ = try folder.open()
        try FileManager.default.removeItem(atPath: folder.path + "/idempotency")
        let readOnly = try folder.open { $0.isReadOnly = true }
        #expect(throws: StoreError.readOnly) { try readOnly.claimIdempotencyKey(request("k"), now: noon) }
        #expect(try folder.open().claimIdempotencyKey(request("k"), now: noon) == nil)
    }
}
