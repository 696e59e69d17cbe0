// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import Foundation
import Glibc
import HTTP
import HTTPTypes
import Metrics
import Store
import Support
import Synchronization
import Testing

import class System.Lock

/// One account's password, tried from many networks; and one network that tries many.
struct GuessingTests {
    private let metrics = SiteMetrics(version: "1.2.3", startedAt: 1_796_000_000)
    private let log = CollectedLog()

    private func site(users: [String] = ["alice", "bob"]) throws -> TestSite {
        try TestSite(users: users) { parts in
            parts.authenticator = UserAuthenticator(
                store: parts.store, metrics: metrics.logIns, logger: log.logger,
                limits: LogInLimits(seconds: TestSite.patience, attempts: 32), now: parts.now,
                clock: parts.clock)
        }
    }

    private func call(_ site: TestSite, _ pair: String, from address: String) -> Response {
        let value = "Basic " + Data(pair.utf8).base64EncodedString()
        return site.backend.respond(
            to: Request(
                method: .get, path: "/api/register", fields: [.authorization: value], remoteAddress: address, id: "test"
            ))
    }

    /// As many wrong passwords, each from a /64 of its own.
    private func guess(_ site: TestSite, _ name: String, _ count: Int) -> [Response] {
        (1...count).map { call(site, "\(name):guess\($0)", from: "2001:db8:\(String($0, radix: 16))::1") }
    }

    @Test func `guesses from changing networks are slowed down, and the user where they are known is not`() throws {
        let site = try site()
        #expect(call(site, "alice:alice-secret", from: "192.0.2.1").status == .ok)
        // So that the password is looked at once more.
        site.clock.advance(CredentialCache.lifetimeSeconds + 1)
        let answers = guess(site, "alice", 60)
        #expect(answers.count { $0.status == .unauthorized } == 21)
        #expect(answers.count { $0.status == .tooManyRequests } == 39)
        #expect(call(site, "alice:alice-secret", from: "192.0.2.1").status == .ok)
        // Other accounts are not affected.
        #expect(call(site, "bob:bob-secret", from: "2001:db8:1::1").status == .ok)
    }

    @Test func `a user at an unknown network waits as long as they are told, and no longer`() throws {
        let site = try site()
        for _ in 1...6 {
            _ = guess(site, "alice", 30)
            site.clock.advance(100)
        }
        _ = guess(site, "alice", 30)
        let refused = call(site, "alice:alice-secret", from: "198.51.100.1")
        #expect(refused.status == .tooManyRequests)
        let seconds = try #require(refused.fields[.retryAfter].flatMap { Int64($0) })
        #expect(seconds > 1)
        site.clock.advance(seconds - 1)
        #expect(call(site, "alice:alice-secret", from: "198.51.100.1").fields[.retryAfter] == "1")
        site.clock.advance(1)
        #expect(call(site, "alice:alice-secret", from: "198.51.100.1").status == .ok)
    }

    @Test(arguments: [-86_400, 86_400]) func `a date that is set changes no delay`(seconds: Int64) throws {
        let site = try site()
        _ = guess(site, "alice", 40)
        for number in 1...11 { _ = call(site, "bob:guess\(number)", from: "192.0.2.1") }
        site.clock.advance(50)
        site.clock.setDate(by: seconds)
        #expect(call(site, "bob:bob-secret", from: "192.0.2.1").fields[.retryAfter] == "10")
        #expect(guess(site, "alice", 3).map(\.status) == [.unauthorized, .tooManyRequests, .tooManyRequests])
        site.clock.advance(10)
        #expect(call(site, "bob:bob-secret", from: "192.0.2.1").status == .ok)
    }

    @Test func `a name that does not exist is answered like one that does`() throws {
        let site = try site()
        func say(_ answer: Response) -> String {
            "\(answer.status.code) \(answer.fields[.retryAfter] ?? "") \(String(decoding: answer.body, as: UTF8.self))"
        }
        #expect(guess(site, "alice", 40).map(say) == guess(site, "nosuch", 40).map(say))
        site.clock.advance(5)
        #expect(guess(site, "alice", 3).map(say) == guess(site, "nosuch", 3).map(say))
    }

    @Test func `a user who was let in a moment ago is known at a new network during the guessing`() throws {
        let site = try site()
        #expect(call(site, "alice:alice-secret", from: "192.0.2.1").status == .ok)
        _ = guess(site, "alice", 30)
        // From the telephone, out of the cache.
        #expect(call(site, "alice:alice-secret", from: "198.51.100.1").status == .ok)
        site.clock.advance(CredentialCache.lifetimeSeconds + 1)
        _ = guess(site, "alice", 30)
        #expect(call(site, "alice:alice-secret", from: "198.51.100.1").status == .ok)
        #expect(call(site, "alice:wrong", from: "203.0.113.1").status == .tooManyRequests)
    }

    @Test func `the log names the account once, and no name without an account`() throws {
        let site = try site()
        _ = guess(site, "alice", 60)
        site.clock.advance(60)
        _ = guess(site, "alice", 10)
        _ = guess(site, "hunter2", 60)
        let lines = log.lines.filter { $0.text.contains("wrong passwords") }
        #expect(lines.count == 1 && lines.first?.level == .warning)
        #expect(lines.first?.text.contains("alice") == true)
        #expect(!log.text.contains("hunter2") && !log.text.contains("guess1"))
        let text = String(decoding: metrics.exposition(), as: UTF8.self)
        #expect(text.contains("\napp_backend_accounts_guessed_total 1\n"))
        #expect(text.contains("\napp_backend_logins_total{result=\"delayed\"} "))
        #expect(!text.contains("app_backend_logins_total{result=\"delayed\"} 0\n"))
        #expect(!text.contains("alice"))
    }

    @Test func `a wrong password is a line with the address, and with the name of a user alone`() throws {
        let site = try site()
        for pair in ["alice:wrong", "hunter2:wrong", "alice:alice-secret"] {
            _ = call(site, pair, from: "192.0.2.\(pair.utf8.count)")
        }
        let lines = log.lines.filter { $0.text.hasPrefix("log-in: failed ") }
        #expect(lines.count == 2 && lines.allSatisfy { $0.level == .notice })
        #expect(lines.first?.text.contains("192.0.2.11") == true && lines.first?.text.contains("alice") == true)
        #expect(lines.last?.text.contains("192.0.2.13") == true)
        #expect(!log.text.contains("hunter2") && !log.text.contains("wrong"))
    }

    @Test func `who guesses much has few lines, and does not hide others`() throws {
        let site = try site()
        for number in 1...30 { _ = call(site, "name\(number):wrong", from: "192.0.2.1") }
        _ = call(site, "alice:wrong", from: "198.51.100.1")
        func lines() -> [String] { log.lines.map(\.text).filter { $0.hasPrefix("log-in: ") } }
        #expect(lines().count == 11 && lines().last?.contains("198.51.100.1") == true)
        site.clock.advance(60)
        _ = call(site, "alice:wrong", from: "198.51.100.1")
        #expect(lines().dropFirst(11).first?.hasPrefix("log-in: 20 more failed") == true && lines().count == 13)
    }

    @Test func `a burst from one address leaves room for the log-ins of others`() throws {
        let names = (1...6).map { "user\($0)" }
        let site = try site(users: names)
        let crowd = Crowd()
        // Some of the sixty guess whenever another request comes.
        let strangers = (1...60).map { number in
            Background { crowd.guess { call(site, "nosuch-\(number)-\($0):wrong", from: "192.0.2.1") } }
        }
        defer { crowd.end() }
        #expect(crowd.hasMet(.serviceUnavailable))
        for (number, name) in names.enumerated() {
            #expect(call(site, "\(name):\(name)-secret", from: "198.51.100.\(number)").status == .ok)
        }
        crowd.end()
        for stranger in strangers { try stranger.outcome(seconds: TestSite.patience) }
    }
}

/// Many who try passwords until they are told to end.
private final class Crowd: Sendable {
    private let isOver = Atomic(false)
    private let statuses = Lock<Set<HTTPResponse.Status>>([])

    func guess(_ call: (Int) -> Response) {
        var number = 0
        while !isOver.load(ordering: .relaxed) {
            number += 1
            let status = call(number).status
            statuses.withLock { _ = $0.insert(status) }
            // Sixty threads that never rest would leave no processor to those who are tried beside them.
            usleep(5_000)
        }
    }

    func end() { isOver.store(true, ordering: .relaxed) }

    /// Waits until one of them was answered so.
    func hasMet(_ status: HTTPResponse.Status) -> Bool {
        Deadline.poll(seconds: TestSite.patience) { statuses.withLock { $0.contains(status) } }
    }
}
