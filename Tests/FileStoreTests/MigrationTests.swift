// SPDX-License-Identifier: Apache-2.0
import FileStore
import Foundation
import JSON
import Store
import StoreContract
import Support
import Testing

import class System.Lock

/// A store of an earlier format and a program that writes the third.
@Suite struct MigrationTests {
    private func migrations(_ log: EventLog) -> Int { log.all.count { $0 == .migrated(from: 1, to: 3) } }

    /// All records, in whatever order the files have them.
    private func content(_ store: FileSiteStore) throws -> Set<StoredRecord> {
        var records: Set<StoredRecord> = []
        try store.forEachRecord(now: noon) { records.insert($0) }
        return records
    }

    @Test func `it is migrated once, keeps its salt and all records, and is no copy afterwards`() throws {
        let folder = try TemporaryFolder.ofFirstFormat()
        let old = try folder.open { $0.isReadOnly = true }
        let before = try content(old)
        #expect(before.count > 20)
        let moved = try before.filter { try isForeign($0, old) }
        let after = try before.subtracting(moved).union(moved.map { try old.inItsNamespace($0) })
        #expect(try folder.text("store.json").contains(#""format":1"#))
        let salt = try JSONValue(parsing: Array(folder.text("store.json").utf8))["salt"]?.string
        let log = EventLog()
        // The first opening finds a copy, the second the store in its place.
        for _ in 0..<2 {
            let store = try folder.open { $0.onEvent = { log.append($0) } }
            #expect(try content(store) == after)
            let report = try store.verify(now: noon)
            #expect(report.isWhole && !report.isUnopenedCopy)
        }
        #expect(migrations(log) == 1)
        #expect(log.all.contains(.movedRegistrations(moved.count)) == !moved.isEmpty)
        let settings = try JSONValue(parsing: Array(folder.text("store.json").utf8))
        #expect(settings["format"]?.integer == 3 && settings["salt"]?.string == salt)
    }

    private func isForeign(_ record: StoredRecord, _ store: FileSiteStore) throws -> Bool {
        guard let registration = record.record as? HubRegistration else { return false }
        return try store.device(registration.id) == nil
    }

    @Test func `a process that only looks leaves it as it is, and finds it in order`() throws {
        let folder = try TemporaryFolder.ofFirstFormat()
        let log = EventLog()
        let before = try folder.open { $0.isReadOnly = true }
        let records = try content(before)
        let store = try folder.open { ($0.migrates, $0.onEvent) = (false, { log.append($0) }) }
        #expect(store.health() == .writable)
        #expect(try store.users().map(\.name).contains("alice"))
        #expect(try content(store) == records && log.all == [])
        #expect(try folder.text("store.json").contains(#""format":1"#))
    }

    /// A migration by another process, which stands still while a flush does.
    private func whileMigrating(_ folder: TemporaryFolder, _ body: (_ goOn: DispatchSemaphore) throws -> Void) throws {
        let (isAtIt, goOn, isDone) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchGroup())
        DispatchQueue.global().async(group: isDone) {
            _ = try? folder.open {
                $0.calls.flushFile = { _ in
                    isAtIt.signal()
                    goOn.wait()
                    goOn.signal()
                    return 0
                }
            }
        }
        isAtIt.wait()
        defer {
            goOn.signal()
            isDone.wait()
        }
        try body(goOn)
    }

    @Test func `a migration reports each of its steps, and a process that waits for it reports once`() throws {
        let folder = try TemporaryFolder.ofFirstFormat()
        let steps = Lock(0)
        func open() throws -> Int {
            steps.withLock { $0 = 0 }
            _ = try folder.open { $0.onMigrating = { steps.withLock { $0 += 1 } } }
            return steps.withLock(\.self)
        }
        #expect(try open() >= folder.files(under: "hub/registrations").count)
        #expect(try open() == 0)
        try folder.setFormat(2)
        try whileMigrating(folder) { goOn in
            let store = try folder.open {
                $0.onMigrating = {
                    steps.withLock { $0 += 1 }
                    goOn.signal()
                }
            }
            #expect(store.health() == .writable && steps.withLock(\.self) == 1)
        }
    }

    @Test func `a process that opens it meanwhile waits longer than for other locks, and says so`() throws {
        let folder = try TemporaryFolder.ofFirstFormat()
        let log = EventLog()
        try whileMigrating(folder) { goOn in
            let store = try folder.open {
                $0.lockTimeout = .zero
                $0.onEvent = { event in
                    log.append(event)
                    if event == .awaitsMigration { goOn.signal() }
                }
            }
            #expect(log.all == [.awaitsMigration])
            #expect(try store.users().map(\.name).contains("alice"))
            #expect(try folder.text("store.json").contains(#""format":3"#))
        }
    }

    @Test func `a process that has waited for too long says that another one migrates the store`() throws {
        let folder = try TemporaryFolder.ofFirstFormat()
        try whileMigrating(folder) { _ in
            let error = #expect(throws: StoreError.self) { try folder.open { $0.migrationTimeout = .zero } }
            guard case .notReady(let detail) = error else { throw try #require(error) }
            #expect(detail.contains("another process brings it to this version's format"))
        }
    }

    @Test func `thousands of registrations are moved with a flush for each file`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open()
        let count = 4_000
        let foreign = (0..<count).map { number in
            var registration = NamespaceScene.registration("s-\(number)", ["username:alice", "all"])
            registration.version = 1
            return StoredRecord.hubRegistration(registration)
        }
        #expect(try store.putRecords(foreign, now: noon) == count)
        try folder.setFormat(2)
        let flushes = Lock(0)
        let migrated = try folder.open {
            $0.calls.flushFile = { _ in
                flushes.withLock { $0 += 1 }
                return 0
            }
        }
        #expect(flushes.withLock(\.self) < count / 2)
        var reached = 0
        try migrated.forEachHubRegistration(tag: "~all") { _ in reached += 1 }
        #expect(reached == count)
        #expect(try migrated.hubRegistrations(tag: "username:alice", after: nil, limit: 9).elements == [])
        #expect(try migrated.verify(now: noon).isWhole)
    }

    @Test func `a store that was opened before is not read through again`() throws {
        let folder = try TemporaryFolder()
        _ = try folder.open()
        // In place, and the marker made right for it: as a version that knew no other format has left it.
        try folder.setFormat(1)
        _ = try folder.open { $0.isReadOnly = true }
        try folder.markAsOpened()
        let log = EventLog()
        let store = try folder.open { $0.onEvent = { log.append($0) } }
        #expect(try !store.verify(now: noon).isUnopenedCopy)
        #expect(migrations(log) == 1)
    }

    @Test func `what keys of the hub have registered gets a namespace of its own, and nothing is lost`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open()
        let own = try NamespaceScene(store).own
        var served: [HubRegistration] = []
        for number in 0..<30 {
            let first = NamespaceScene.registration("s-\(number)", ["username:alice", "all"])
            served.append(try store.putHubRegistration(try store.putHubRegistration(first)))
        }
        try folder.setFormat(2)
        let log = EventLog()
        for _ in 0..<2 {
            let migrated = try folder.open { $0.onEvent = { log.append($0) } }
            #expect(try migrated.hubRegistrations(tag: "username:alice", after: nil, limit: 99).elements == [own])
            let found = try migrated.hubRegistrations(tag: "~all", after: nil, limit: 99).elements
            #expect(found == served.map(\.movedToServed).sorted { $0.id < $1.id } && found.count == 30)
            #expect(found.allSatisfy { $0.version == 2 })
            #expect(try migrated.hubRegistrations(channel: "~Cs-7").map(\.plainID) == ["s-7"])
            #expect(try migrated.hubRegistration("s-7") == nil && migrated.hubRegistration("d-1") == own)
            #expect(try migrated.hubRegistrations(after: nil, limit: 99).elements.count == 31)
            #expect(try migrated.verify(now: noon).isWhole)
        }
        #expect(log.all.filter { $0 == .movedRegistrations(30) }.count == 1)
        #expect(log.all.filter { $0 == .migrated(from: 2, to: 3) }.count == 1)
    }

    @Test func `opened for reading only it is read as it is, and not changed`() throws {
        let folder = try TemporaryFolder.ofFirstFormat()
        let before = try folder.text("store.json")
        let store = try folder.open { $0.isReadOnly = true }
        #expect(try store.verify(now: noon).faultyLines == 0)
        #expect(try store.dueHubMessages(except: [], limit: 9, now: nextDay).messages.map(\.id) == ["m-3"])
        #expect(try folder.text("store.json") == before)
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/hub/due"))
    }

    @Test func `several that open it at once migrate it once`() throws {
        for _ in 0..<5 {
            let folder = try TemporaryFolder.ofFirstFormat()
            let log = EventLog()
            let failures = EventLog()
            DispatchQueue.concurrentPerform(iterations: 6) { _ in
                do {
                    let store = try folder.open { $0.onEvent = { log.append($0) } }
                    _ = try store.putUser(User(name: "user-\(UUID().uuidString)", passwordHash: "x"))
                } catch {
                    failures.append(.unwritable(file: "\(error)", reason: ""))
                }
            }
            #expect(failures.all == [])
            #expect(migrations(log) == 1)
            #expect(try folder.open().verify(now: noon).isWhole)
        }
    }

    /// The calls before the migration's own make folders; so whatever call the disk fails at, the store is of one format or
    /// the other.
    @Test(arguments: 0..<6)
    func `where the disk fails in the middle the next opening does it`(successes: Int) throws {
        let folder = try TemporaryFolder.ofFirstFormat()
        let left = Counter(successes)
        var calls = DiskCalls()
        calls.flushFile = { left.next() ? fdatasync($0) : Counter.failure }
        calls.flushFolder = { left.next() ? fsync($0) : Counter.failure }
        calls.write = { left.next() ? write($0, $1.baseAddress, $1.count) : Int(Counter.failure) }
        let failing = calls
        #expect(throws: StoreError.self) {
            let store = try folder.open { $0.calls = failing }
            // Whatever the opening needed, this needs more.
            for index in 0..<9 { _ = try store.putUser(User(name: "later-\(index)", passwordHash: "x")) }
        }
        let store = try folder.open()
        let users = try store.users().map(\.name)
        #expect(users.prefix(2) == ["alice", "bob"])
        #expect(try store.verify(now: noon).isWhole)
        #expect(try folder.text("store.json").contains(#""format":3"#))
    }
}

extension TemporaryFolder {
    /// Writes another format into a store of this version's.
    fileprivate func setFormat(_ format: Int) throws {
        try write(try text("store.json").replacing(#""format":3"#, with: #""format":\#(format)"#), to: "store.json")
    }
}

/// How many calls still work.
private final class Counter: Sendable {
    static let failure: Int32 = -1
    private let left: Lock<Int>

    init(_ left: Int) { self.left = Lock(left) }

    func next() -> Bool {
        let isLeft = left.withLock { left in
            left -= 1
            return left >= 0
        }
        if !isLeft { errno = ENOSPC }
        return isLeft
    }
}
