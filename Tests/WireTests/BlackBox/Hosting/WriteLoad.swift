// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import Foundation
import JSON
import Support
import Testing

import class System.Lock

/// Several users who write at once through many threads, and a memory of everything that was acknowledged.
final class WriteLoad: Sendable {
    private struct Message {
        let owner: WireUser
        let id: Int32
        let text: String
    }

    private struct Acknowledged {
        var messages: [Message] = []
        /// How many of the messages each user has, by their place.
        var counts: [Int]
        /// Registration ids, by the place of their owner.
        var registrations: [[String]]
    }

    /// Below what one sender may leave unread with one user, by more than threads write at once.
    private static let maximum = 450

    private let site: HostedSite
    private let users: [WireUser]
    private let acknowledged: Lock<Acknowledged>
    /// Bytes that each process had written before the load.
    private let before: [pid_t: Int]

    init(_ site: HostedSite, users: [WireUser]) {
        self.site = site
        self.users = users
        acknowledged = Lock(Acknowledged(counts: users.map { _ in 0 }, registrations: users.map { _ in [] }))
        before = Self.writes(site)
    }

    /// Writes on so many threads: a dozen times each, and on until so many processes have written, but not without end, and
    /// not more than users may keep.
    /// - Parameter toleratesFailure: whether a call may go without an answer; nothing is remembered of it then.
    func run(
        threads: Int, processes: Int, toleratesFailure: Bool = false,
        until isOver: @escaping @Sendable () -> Bool = { true }
    ) {
        let end = ContinuousClock.now + .seconds(240)
        _ = together(threads) { [self] thread in
            var round = 0
            while round < 12
                || ((writers < processes || !isOver()) && ContinuousClock.now < end)
            {
                do {
                    // Beyond what users may keep, they read.
                    if mayWrite(thread) { try write(thread, round) } else { try read(thread) }
                } catch {
                    guard toleratesFailure else { throw error }
                }
                round += 1
            }
        }
    }

    /// How many processes have carried some of the load, which is nothing but writes. A process that has only begun has
    /// written less.
    var writers: Int {
        Self.writes(site).count { $0.value > before[$0.key, default: 0] + 2_048 }
    }

    /// Whether so many more messages were acknowledged, as far as users may keep more.
    func isCarried(_ more: Int = 20) -> Bool {
        let target = min(count + more, Self.maximum * users.count)
        return Deadline.poll(seconds: 120) { count >= target }
    }

    /// How many messages were acknowledged.
    var count: Int { acknowledged.withLock { $0.messages.count } }

    /// Fails unless all that was acknowledged is there.
    func expectAll() throws {
        let all = acknowledged.withLock(\.self)
        #expect(!all.messages.isEmpty && all.registrations.contains { !$0.isEmpty })
        for message in all.messages {
            #expect(try site.readSecure(message.id, as: message.owner) == message.text)
        }
        for (user, ids) in zip(users, all.registrations) {
            let list = try JSONValue(parsing: site.call(.get, Path.register, as: user).body).array ?? []
            let found = Set(list.compactMap { $0["RegistrationId"]?.string })
            #expect(found.isSuperset(of: ids), "\(ids.count) were acknowledged, \(found.count) are there")
        }
    }

    /// Threads of one user may be faster than those of another.
    private func mayWrite(_ thread: Int) -> Bool {
        acknowledged.withLock { $0.counts[thread % users.count] < Self.maximum }
    }

    private func read(_ thread: Int) throws {
        let answer = try site.call(.get, Path.register, as: users[thread % users.count])
        #expect(answer.status == .ok)
    }

    private func write(_ thread: Int, _ round: Int) throws {
        let owner = thread % users.count
        // A user may have 100 devices.
        if round % 4 == 0 && round < 40 {
            let id = try site.register(users[owner], handle: site.makeHandle())
            acknowledged.withLock { $0.registrations[owner].append(id) }
        }
        // One file's lock for two threads each, and the queue's for all.
        let text = site.secrets.make("written ")
        let id = try site.sendSecure(text, from: users[(owner + 1) % users.count], to: users[owner])
        acknowledged.withLock {
            $0.messages.append(Message(owner: users[owner], id: id, text: text))
            $0.counts[owner] += 1
        }
    }

    /// What each process has written, in bytes: to files, sockets and its log (proc(5), `io`).
    private static func writes(_ site: HostedSite) -> [pid_t: Int] {
        var counts: [pid_t: Int] = [:]
        for id in site.home.processes {
            guard let text = try? String(contentsOfFile: "/proc/\(id)/io", encoding: .utf8) else { continue }
            let line = text.split(separator: "\n").first { $0.hasPrefix("wchar: ") }
            counts[id] = line.flatMap { Int($0.dropFirst("wchar: ".count)) } ?? 0
        }
        return counts
    }
}
