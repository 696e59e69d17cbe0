// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import Foundation
import HTTP
import JSON
import Support
import Testing

extension WireTests {
    /// What disks and clocks do to the whole product.
    struct DiskStories {
        @Test func `a flush that fails ends the process, and the next one has all that was promised`() throws {
            try FaultSite.run(in: ScratchFolder()) { site in
                var alice = try Keeper(site)
                try alice.leave(3)
                // The process ends when it next tidies the store, which it does every ten seconds. Where that is in the
                // middle of the questions, they are asked the next one.
                var hasAnswered = false
                for attempt in 1...5 where !hasAnswered {
                    try site.begin("flush")
                    let first = try (tries: alice.tries(), health: site.health())
                    // The disk seems well again, which proves nothing.
                    site.end("flush")
                    let second = try (tries: alice.tries(), findsAll: alice.findsAll())
                    hasAnswered = site.poisonings < attempt
                    if hasAnswered {
                        #expect(first.tries == 503 && first.health == Health(status: 503, store: "poisoned"))
                        #expect(second.tries == 503 && second.findsAll)
                    }
                    #expect(site.backend.wait(seconds: 60) == 1)
                    #expect(site.poisonings == attempt)
                    try site.backend.start()
                }
                #expect(hasAnswered)
                #expect(try site.health() == Health(status: 200, store: "writable"))
                try alice.expectAll()
                try alice.leave(2)
                try alice.expectAll()
                #expect(try site.run("store", "verify").status == 0)
            }
        }

        @Test(.enabled(if: Mount.isPossible, "needs root and mount(8)"))
        func `a disk that is full answers 503, and works on when there is room`() throws {
            try onDisk("size=6m") { site in
                let disk = site.scratch.path("disk")
                try fill(disk + "/ballast")
                // What is left of a page takes some lines more.
                return { unlink(disk + "/ballast") }
            }
        }

        @Test(.enabled(if: Mount.isPossible, "needs root and mount(8)"))
        func `a disk without inodes answers 503, and works on when there are some`() throws {
            try onDisk("size=6m,nr_inodes=300") { site in
                let folder = try site.scratch.makeFolder("disk/fillers")
                var count = 0
                while FileManager.default.createFile(atPath: "\(folder)/\(count)", contents: nil) { count += 1 }
                #expect(count > 20)
                return { try? FileManager.default.removeItem(atPath: folder) }
            }
        }

        /// - Parameter exhaust: returns what makes room again.
        private func onDisk(_ options: String, _ exhaust: (FaultSite) throws -> () -> Void) throws {
            let scratch = try ScratchFolder()
            let mount = try Mount(tmpfs: scratch.makeFolder("disk"), options: options)
            try FaultSite.run(in: scratch) { site in
                var alice = try Keeper(site)
                try alice.leave(2)
                let makeRoom = try exhaust(site)
                // Each goes to another file; some find room in one that is there.
                let isRefused = try Deadline.poll(seconds: 60) {
                    try site.call(.post, Path.register, as: alice.user).status == .serviceUnavailable
                }
                #expect(isRefused)
                try expectTruthfulSends(site, alice.user)
                #expect(try site.health() == Health(status: 503, store: "full"))
                try alice.expectAll()
                makeRoom()
                #expect(try site.health() == Health(status: 200, store: "writable"))
                try alice.leave(2)
                try alice.expectAll()
                #expect(try site.run("store", "verify").status == 0)
                #expect(site.backend.exitStatus == nil)
            }
            withExtendedLifetime(mount) {}
            withExtendedLifetime(scratch) {}
        }

        /// A send to the built-in hub writes to a file of its own; some of these find room in one that is there.
        private func expectTruthfulSends(_ site: FaultSite, _ user: WireUser) throws {
            var refused: Response?
            _ = try Deadline.poll(seconds: 60) {
                let query = "pns=apns&to_tag=\(user.name)"
                let answer = try site.call(.post, Path.notifications, query: query, as: user, body: "\"sent\"")
                refused = answer.status == .ok ? nil : answer
                return refused != nil
            }
            let answer = try #require(refused)
            #expect(answer.status == .serviceUnavailable && answer.fields[.retryAfter] == "10")
            #expect(Problem(answer).code == .storeUnavailable)
            #expect(site.backend.log.contains("nothing was written code=storeUnavailable request="))
            #expect(site.backend.log.contains("cannot be written: No space left on device"))
        }

        private func fill(_ path: String) throws {
            try Data().write(to: URL(filePath: path))
            let file = try #require(FileHandle(forWritingAtPath: path))
            for size in [1 << 16, 1 << 12, 1] {
                let bytes = Data(repeating: 0, count: size)
                while (try? file.write(contentsOf: bytes)) != nil {}
            }
            try file.close()
        }

        @Test(.enabled(if: Mount.isPossible, "needs root and mount(8)"))
        func `on a read-only mount is read, also by a process that starts there`() throws {
            try FaultSite.run(in: ScratchFolder()) { site in
                var alice = try Keeper(site)
                try alice.leave(2)
                let mount = try Mount(binding: site.store, to: site.store)
                try withExtendedLifetime(mount) {
                    try mount.makeReadOnly(isBind: true)
                    for _ in 1...2 {
                        try alice.expectAll()
                        #expect(try alice.tries() == 503)
                        #expect(try site.health() == Health(status: 503, store: "readOnly"))
                        site.backend.stop()
                        try site.backend.start()
                    }
                }
                try mount.end()
                site.backend.stop()
                try site.backend.start()
                try alice.leave(1)
                try alice.expectAll()
            }
        }

        @Test func `a process that is stopped with a lock costs the others a 503 in time, and goes on`() throws {
            let scratch = try ScratchFolder()
            try FaultSite.run("frozen", in: scratch) { frozen in
                try FaultSite.run("other", in: scratch) { other in
                    let alice = try Keeper(frozen)
                    // The first log-in is noted with the user; the next write is the message.
                    #expect(try alice.count() == 0)
                    try frozen.begin("freeze")
                    let call = Background { try alice.tries() }
                    #expect(Deadline.poll(seconds: 60) { frozen.backend.isStopped })
                    #expect(try alice.tries(at: other) == 503)
                    // Writes to other tables go on.
                    #expect(try other.call(.post, Path.register, as: alice.user).status == .ok)
                    frozen.backend.signal(SIGCONT)
                    #expect(try call.outcome(seconds: 60) == 200)
                    #expect(try alice.tries(at: other) == 200)
                }
            }
        }

        @Test func `a clock that is set back takes nothing, and ends nothing too late`() throws {
            try FaultSite.run(in: ScratchFolder()) { site in
                var alice = try Keeper(site)
                let page = WirePage(site)
                #expect(try page.logIn(alice.user).status == .ok)
                try alice.leave(2)
                let year = 365 * 86_400
                for offset in [-60, -86_400, -year, -10 * year] {
                    try site.begin("clock", String(offset))
                    try alice.expectAll()
                    try alice.leave(1)
                    #expect(try page.call(.get, Path.register).status == .ok)
                    site.backend.stop()
                    try site.backend.start()
                    try alice.expectAll()
                    _ = try site.register(alice.user, handle: site.makeHandle())
                }
                // Retention is 30 days: what was left ten years ago is over, what was left now is not.
                try site.begin("clock", String(5 * 86_400))
                #expect(try page.call(.get, Path.register).status == .ok)
                try site.begin("clock", String(20 * year))
                #expect(try page.call(.get, Path.register).status == .unauthorized)
                #expect(try alice.count() == 0)
            }
        }
    }
}

/// What `/health` says.
private struct Health: Equatable {
    let status: Int
    let store: String?
}

extension FaultSite {
    /// How often a process has said that it ends because a flush failed, which is before it refuses anything.
    fileprivate var poisonings: Int { backend.log.components(separatedBy: "the store is poisoned").count - 1 }

    fileprivate func health() throws -> Health {
        let answer = try call(.get, Path.health)
        return Health(status: answer.status.code, store: try JSONValue(parsing: answer.body)["store"]?.string)
    }
}

/// A user who leaves secrets for themselves, and keeps account.
private struct Keeper {
    let user: WireUser
    private let site: FaultSite
    private var left: [Int32: String] = [:]

    init(_ site: FaultSite) throws {
        self.site = site
        user = try site.addUser("alice")
    }

    /// Leaves so many, each of which must be promised.
    mutating func leave(_ count: Int) throws {
        for _ in 1...count {
            let text = site.secrets.make("left ")
            left[try site.sendSecure(text, from: user, to: user)] = text
        }
    }

    /// The status of one that may be refused.
    func tries(at other: FaultSite? = nil) throws -> Int {
        try (other ?? site).call(
            .post, Path.notifications, query: "to_tag=\(user.name)", as: user, body: "\"tried\""
        ).status.code
    }

    /// How many are listed.
    func count() throws -> Int? {
        try JSONValue(parsing: site.call(.get, Path.notifications, as: user).body).array?.count
    }

    func findsAll() -> Bool {
        left.allSatisfy { id, text in (try? site.readSecure(id, as: user)) == text }
    }

    func expectAll() throws {
        for (id, text) in left { #expect(try site.readSecure(id, as: user) == text) }
    }
}
