// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import AppBackend

struct AccountGuardTests {
    private let home = ClientNetwork("192.0.2.1")

    private func network(_ number: Int) -> ClientNetwork { ClientNetwork("2001:db8:0:\(String(number, radix: 16))::1") }

    /// One attempt.
    /// - Returns: the seconds to wait, when it was refused; nil, when it was made.
    private func attempt(
        _ accounts: AccountGuard, _ name: String = "alice", from network: ClientNetwork,
        of site: ClientNetwork? = nil, isRight: Bool = false, isUser: Bool = true, now: Int64
    ) -> Int? {
        switch accounts.admit(name: name, network: network, site: site ?? network, now: now) {
        case .refused(let seconds): return seconds
        case .admitted(let isCounted):
            _ = accounts.recordResult(
                name: name, network: network, site: site ?? network, isCounted: isCounted, isRight ? .right : .wrong,
                isUser: isUser, now: now)
            return nil
        }
    }

    /// Guesses as fast as it is let, each time from another network.
    /// - Returns: how many were made.
    private func guess(_ accounts: AccountGuard, _ name: String = "alice", seconds: Range<Int64>) -> Int {
        var (made, number) = (0, 0)
        for now in seconds {
            while true {
                number += 1
                guard attempt(accounts, name, from: network(number % 65_536), now: now) == nil else { break }
                made += 1
            }
        }
        return made
    }

    @Test func `a network is known for a month after any user's right password, and for no wrong one`() {
        let accounts = AccountGuard()
        #expect(attempt(accounts, "bob", from: home, isRight: false, now: 0) == nil)
        #expect(!accounts.knows(home, now: 1))
        #expect(attempt(accounts, "bob", from: home, isRight: true, now: 2) == nil)
        #expect(accounts.knows(home, now: 3) && !accounts.knows(network(1), now: 3))
        #expect(!accounts.knows(home, now: 2 + AccountGuard.networkSeconds))
    }

    @Test func `one account is tried some three hundred times a day, from however many networks`() {
        let day: Int64 = 86_400
        let made = guess(AccountGuard(), seconds: 0..<day)
        // The free ones, those while the delay grows, and then one for each longest delay.
        #expect(made <= AccountGuard.freeFailures + 10 + Int(day / AccountGuard.delays.seconds(after: .max)))
        #expect(made > AccountGuard.freeFailures)
    }

    @Test func `one site tries few passwords, under however many names and from however many of its networks`() {
        let accounts = AccountGuard()
        let seconds: Int64 = 3_000
        var made = 0
        for now in 0..<seconds {
            for number in 0..<20
            where attempt(
                accounts, "user\(now)-\(number)", from: network(number), of: home, isUser: false, now: now) == nil
            {
                made += 1
            }
        }
        let delay = AccountGuard.siteDelays.seconds(after: .max)
        let allowed = AccountGuard.freeSiteFailures + 10 + Int(seconds / delay)
        #expect((AccountGuard.freeSiteFailures...allowed).contains(made))
        // No user waits elsewhere, nor does a user who has logged in there.
        #expect(attempt(accounts, "bob", from: network(99), now: seconds) == nil)
        let others = AccountGuard()
        #expect(attempt(others, "bob", from: network(1), of: home, isRight: true, now: 0) == nil)
        for number in 0...AccountGuard.freeSiteFailures {
            _ = attempt(others, "user\(number)", from: network(1), of: home, isUser: false, now: 1)
        }
        #expect(attempt(others, "carol", from: network(1), of: home, now: 1) != nil)
        #expect(attempt(others, "bob", from: network(1), of: home, isRight: true, now: 1) == nil)
    }

    @Test func `a network loses its preference with a wrong password, until the next right one`() {
        let accounts = AccountGuard()
        for (isRight, isKnown) in [(true, true), (false, false), (true, true)] {
            #expect(attempt(accounts, "bob", from: home, isRight: isRight, now: 0) == nil)
            #expect(accounts.knows(home, now: 1) == isKnown)
        }
    }

    @Test func `where the user logged in lately they are let in all the while`() {
        let accounts = AccountGuard()
        #expect(attempt(accounts, from: home, isRight: true, now: 0) == nil)
        _ = guess(accounts, seconds: 1..<1_000)
        // Also when they err.
        for _ in 1...30 { #expect(attempt(accounts, from: home, now: 1_000) == nil) }
        #expect(attempt(accounts, from: home, isRight: true, now: 1_000) == nil)
        #expect(attempt(accounts, from: network(7), now: 1_000) != nil)
        // Failures of one name do not count for another.
        #expect(attempt(accounts, "bob", from: network(7), now: 1_000) == nil)
    }

    @Test func `the time to wait is the truth`() throws {
        let accounts = AccountGuard()
        _ = guess(accounts, seconds: 0..<100)
        let seconds = try #require(attempt(accounts, from: network(1), isRight: true, now: 100))
        #expect(attempt(accounts, from: network(1), isRight: true, now: 99 + Int64(seconds)) == 1)
        #expect(attempt(accounts, from: network(1), isRight: true, now: 100 + Int64(seconds)) == nil)
    }

    @Test func `attempts at the same moment are no more than one after the other`() {
        let accounts = AccountGuard()
        let admitted = (0..<1_000).count { isCounted(accounts, "alice", $0, 5) }
        #expect(admitted == AccountGuard.freeFailures + 1)
    }

    @Test func `an attempt that could not be made costs no delay`() {
        let accounts = AccountGuard()
        for number in 0..<AccountGuard.freeFailures { #expect(attempt(accounts, from: network(number), now: 0) == nil) }
        for _ in 1...3 {
            #expect(accounts.admit(name: "alice", network: home, site: home, now: 0) == .admitted(isCounted: true))
            _ = accounts.recordResult(
                name: "alice", network: home, site: home, isCounted: true, .notMade, isUser: true, now: 0)
        }
        #expect(attempt(accounts, from: home, isRight: true, now: 0) == nil)
    }

    @Test func `failures are forgotten`() {
        let accounts = AccountGuard()
        _ = guess(accounts, seconds: 100_000..<101_000)
        #expect(attempt(accounts, from: home, now: 101_000) != nil)
        #expect(attempt(accounts, from: home, now: 101_000 + AccountGuard.forgetSeconds) == nil)
    }

    @Test func `the operator hears once of an account, of users alone, and not of many at once`() {
        let accounts = AccountGuard()
        func tellings(_ name: String, isUser: Bool, now: Int64) -> Int {
            (0..<30).count { number in
                accounts.recordResult(
                    name: name, network: network(number), site: network(number),
                    isCounted: isCounted(accounts, name, number, now), .wrong, isUser: isUser, now: now)
            }
        }
        #expect(tellings("alice", isUser: true, now: 0) == 1)
        #expect(tellings("alice", isUser: true, now: 60) == 0)
        #expect(tellings("hunter2", isUser: false, now: 120) == 0)
        let crowd = (0..<50).reduce(0) { $0 + tellings("user\($1)", isUser: true, now: 180) }
        #expect(crowd == 1)
    }

    private func isCounted(_ accounts: AccountGuard, _ name: String, _ number: Int, _ now: Int64) -> Bool {
        accounts.admit(name: name, network: network(number), site: network(number), now: now)
            == .admitted(isCounted: true)
    }

    @Test func `strangers cannot wipe out that an account is being guessed at, nor the networks of those who log in`() {
        let accounts = AccountGuard()
        #expect(attempt(accounts, from: home, isRight: true, now: 0) == nil)
        _ = guess(accounts, seconds: 1..<300)
        for number in 0..<AccountGuard.maximumNames * 2 {
            _ = attempt(accounts, "user\(number)", from: network(number), isUser: false, now: 300)
        }
        #expect(attempt(accounts, from: network(9), now: 300) != nil)
        #expect(attempt(accounts, from: home, now: 300) == nil)
    }

    @Test func `of a user's networks the last ones count`() {
        let accounts = AccountGuard()
        for number in 0...AccountGuard.maximumNetworks {
            #expect(attempt(accounts, from: network(number), isRight: true, now: Int64(number)) == nil)
        }
        _ = guess(accounts, "alice", seconds: 100..<101)
        #expect(attempt(accounts, from: network(AccountGuard.maximumNetworks), now: 100) == nil)
        #expect(attempt(accounts, from: network(1), now: 100) == nil)
        #expect(attempt(accounts, from: network(0), now: 100) != nil)
        #expect(attempt(accounts, from: network(1), now: 100 + AccountGuard.networkSeconds) == nil)
    }
}
