// SPDX-License-Identifier: Apache-2.0
import FileStore
import Glibc
import Store
import Support
import Text

/// The record that all of them write: a line of 320 bytes in the file store.
enum Sample {
    static let payload =
        "The quick brown fox jumps over the lazy dog, and the code for today is 1234567; keep it for yourself and tell no one else."
    static let lifetime: Int64 = 30 * 24 * 60 * 60

    static func owner(_ number: Int) -> String { "owner-\(number)" }

    static func create(in store: FileSiteStore, owner: Int) throws(StoreError) -> SecureNotification {
        let now = Timestamp(seconds: Int64(time(nil)))
        return try store.createNotification(
            owner: Self.owner(owner), sender: "", payload: payload, now: now, expiresAt: now + lifetime)
    }
}

/// A store with records in it, made without flushes but for one at the end.
struct Filling {
    /// So many records are named, for `read`.
    private static let named = 20_000

    let records: Int
    let owners: Int

    func fill(_ folder: String) throws {
        var options = FileSiteStore.Options()
        options.calls.flushFile = { _ in 0 }
        options.calls.flushFolder = { _ in 0 }
        let store = try FileSiteStore.open(path: folder, options: options)
        let step = max(1, records / Self.named)
        for number in 0..<records {
            let made = try Sample.create(in: store, owner: number % owners)
            if number % step == 0 { print(made.owner, made.id) }
        }
        sync()
    }
}

/// Threads that create records as fast as they are let. Their first second does not count: a process that has just begun
/// reads what one that serves knows.
struct Creation: Sendable {
    let store: FileSiteStore
    let owners: Int

    /// - Returns: how long each call took, in nanoseconds; `UInt64.max` for one that has failed.
    func run(threads: Int, seconds: Int) -> [UInt64] {
        let begin = ContinuousClock.now + .seconds(1)
        let end = begin + .seconds(seconds)
        return Workers.run(threads) { number in
            var random = SeededRandom(seed: UInt64(getpid()) << 32 | UInt64(number))
            var times: [UInt64] = []
            while case let start = ContinuousClock.now, start < end {
                let owner = Int.random(in: 0..<owners, using: &random)
                let time = time { () throws(StoreError) in _ = try Sample.create(in: store, owner: owner) }
                if start >= begin { times.append(time) }
            }
            return times
        }
    }
}

/// One thread that reads what standard input names.
struct Reading {
    let store: FileSiteStore

    func run() -> [UInt64] {
        let now = Timestamp(seconds: Int64(Glibc.time(nil)))
        var names: [(owner: String, id: Int32)] = []
        while let line = readLine(), !line.isEmpty {
            let words = line.split(separator: " ")
            guard words.count == 2, let id = Int32(words[1]) else { exit(65) }
            names.append((String(words[0]), id))
        }
        return names.map { name in
            time { () throws(StoreError) in
                guard try store.notification(name.id, owner: name.owner, now: now)?.payload == Sample.payload else {
                    throw .damaged(detail: "a record is missing")
                }
            }
        }
    }
}

private func time(_ call: () throws(StoreError) -> Void) -> UInt64 {
    let start = ContinuousClock.now
    do throws(StoreError) {
        try call()
        return start.duration(to: .now).inNanoseconds
    } catch {
        return .max
    }
}
