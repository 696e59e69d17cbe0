// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import HTTP
import Support
import Synchronization
import Testing

import class System.Lock

/// Calls that go on and on, on threads of their own: the few threads of Swift's tasks are the tests' themselves, which
/// block on what they wait for.
final class Load: Sendable {
    private let answered = Atomic(0)
    private let isOver = Atomic(false)

    /// Makes each of the calls again and again as long as `body` runs; each answer must be 200.
    static func run(_ calls: [@Sendable () throws -> Response], while body: (Load) throws -> Void) throws {
        let load = Load()
        let wait = start(calls.count) { try load.repeat(calls[$0]) }
        defer {
            load.isOver.store(true, ordering: .releasing)
            _ = wait()
        }
        try body(load)
    }

    /// Whether so many more calls are answered.
    func isCarried(_ count: Int = 12) -> Bool {
        let target = answered.load(ordering: .relaxed) + count
        return Deadline.poll(seconds: 60) { answered.load(ordering: .relaxed) >= target }
    }

    private func `repeat`(_ call: () throws -> Response) throws {
        while !isOver.load(ordering: .acquiring) {
            #expect(try call().status == .ok)
            answered.add(1, ordering: .relaxed)
        }
    }
}

/// Calls `body` on so many threads at once, with their numbers; what throws is a failure and has no result.
func together<Result: Sendable>(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Result) -> [Result] {
    start(count, body)()
}

/// For calls that have deadlines of their own.
private let patience = DispatchTimeInterval.seconds(300)

/// As `together`, without waiting.
/// - Returns: waits for all of them, and gives their results.
func start<Result: Sendable>(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Result) -> () -> [Result] {
    let results = Box<Result>()
    let group = DispatchGroup()
    for number in 0..<count {
        group.enter()
        Thread {
            defer { group.leave() }
            do {
                let result = try body(number)
                results.values.withLock { $0.append(result) }
            } catch {
                Issue.record(error)
            }
        }.start()
    }
    return {
        if group.wait(timeout: .now() + patience) == .timedOut { Issue.record("calls have not ended in time") }
        return results.values.withLock(\.self)
    }
}

private final class Box<Value: Sendable>: Sendable {
    let values = Lock<[Value]>([])
}
