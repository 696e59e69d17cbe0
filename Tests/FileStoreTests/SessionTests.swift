// SPDX-License-Identifier: Apache-2.0
import FileStore
import Foundation
import Store
import Testing
import Text

import class System.Lock

/// Sessions and sends in files: what the contract cannot see.
@Suite struct SessionTests {
    private func session(_ id: String, _ owner: String = "ann", expiresAt: Timestamp = nextDay) -> Session {
        Session(id: id, owner: owner, binding: "b", createdAt: noon, expiresAt: expiresAt)
    }

    private func sweep(_ store: FileSiteStore, now: Timestamp) throws {
        while try !store.sweep(budget: 1_000, now: now).finishedRound {}
    }

    @Test func `a session reads as the documentation shows it`() throws {
        let folder = try TemporaryFolder()
        try folder.open().createSession(session("5a1e"), now: noon)
        let times = #""createdAt":"2027-01-15T08:00:00Z","expiresAt":"2027-01-16T08:00:00Z","version":1,"crc":""#
        let line = try folder.text(try #require(try folder.files(under: "sessions").first))
        #expect(line.hasPrefix(#"{"id":"5a1e","owner":"ann","binding":"b","# + times))
        let hint = try folder.text(try #require(try folder.files(under: "session-owners").first))
        #expect(hint.hasPrefix(#"{"id":"5a1e","owner":"ann","expiresAt":"2027-01-16T08:00:00Z","crc":""#))
    }

    /// Files are remembered from the first moment, so that every second read may be one from memory.
    @Test(arguments: [128 << 10, 900])
    func `a session that one process ended is not found by another that had just seen it`(bucketBytes: Int) throws {
        let folder = try TemporaryFolder()
        let stores = try (0..<2).map { _ in
            try folder.open {
                ($0.bucketBytes, $0.settlingTime, $0.quotas.sessionsPerOwner) = (bucketBytes, .zero, 100)
            }
        }
        for index in 0..<40 {
            try stores[index % 2].createSession(session("s\(index)", "owner-\(index % 3)"), now: noon)
            for store in stores + stores { #expect(try store.session("s\(index)", now: noon) != nil) }
        }
        for index in 0..<20 {
            #expect(try stores[index % 2].removeSession("s\(index)"))
            for store in stores { #expect(try store.session("s\(index)", now: noon) == nil) }
        }
        #expect(try stores[0].removeSessions(owner: "owner-1") == 6)
        for index in 20..<40 {
            for store in stores { #expect(try (store.session("s\(index)", now: noon) == nil) == (index % 3 == 1)) }
        }
    }

    @Test func `all sessions of an owner end, also those that another process makes meanwhile or had made`() throws {
        let folder = try TemporaryFolder()
        let stores = try (0..<2).map { _ in try folder.open { $0.quotas.sessionsPerOwner = 1_000 } }
        let made = Lock<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 2) { index in
            for number in 0..<30 {
                let id = "\(index)-\(number)"
                if (try? stores[index].createSession(session(id), now: noon)) != nil { made.withLock { $0.append(id) } }
                if index == 0, number % 10 == 9 { _ = try? stores[0].removeSessions(owner: "ann") }
            }
        }
        _ = try stores[1].removeSessions(owner: "ann")
        let alive = try made.withLock(\.self).filter { try stores[0].session($0, now: noon) != nil }
        #expect(made.withLock(\.count) == 60 && alive.isEmpty)
    }

    @Test func `a sweep takes expired sessions, their index and expired sends from the disk`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open()
        for number in 0..<4 {
            try store.createSession(session("early-\(number)"), now: noon)
            try store.rememberSent(["early-\(number)"], owner: "ann", now: noon, expiresAt: nextDay)
        }
        try store.createSession(session("late", expiresAt: nextDay + 9), now: noon)
        try store.rememberSent(["late"], owner: "ann", now: noon, expiresAt: nextDay + 9)
        try sweep(store, now: nextDay)
        let texts = try ["sessions", "session-owners", "sent"].flatMap { try folder.files(under: $0) }.map(folder.text)
        #expect(!texts.contains { $0.contains("early") })
        #expect(texts.count { $0.contains("late") } == 3)
        #expect(try store.session("late", now: nextDay) != nil)
        #expect(try store.hasSent("late", owner: "ann", now: nextDay))
        #expect(try store.removeSessions(owner: "ann") == 1)
    }

    @Test func `a hint without a session takes no place and ends nothing`() throws {
        let folder = try TemporaryFolder()
        let store = try folder.open { $0.quotas.sessionsPerOwner = 2 }
        try store.createSession(session("s1"), now: noon)
        let index = try #require(try folder.files(under: "session-owners").first)
        // As a crash between the hint and the session leaves it.
        try folder.append(#"{"id":"ghost","owner":"ann"}"# + "\n", to: index)
        try store.createSession(session("s2"), now: noon)
        for id in ["s1", "s2"] { #expect(try store.session(id, now: noon) != nil) }
        #expect(try store.removeSessions(owner: "ann") == 2)
    }

    @Test func `a session is flushed before its call returns, its end too, and what was sent is not`() throws {
        let folder = try TemporaryFolder()
        let flushes = FlushCount()
        let store = try folder.open { $0.calls = flushes.counting }
        #expect(try flushes.during { try store.createSession(session("s"), now: noon) } == 2)
        #expect(try flushes.during { _ = try store.removeSession("s") } == 1)
        #expect(try flushes.during { try store.rememberSent(["n"], owner: "a", now: noon, expiresAt: nextDay) } == 0)
        let message = SentMessage(id: "m", owner: "a", to: "b", sentAt: noon, expiresAt: nextDay)
        let opening = MessageOpening(opener: "b", message: "m", expiresAt: nextDay)
        try #expect(
            flushes.during {
                try store.rememberSent(["n"], message: message, owner: "a", now: noon, expiresAt: nextDay)
                try store.noteOpening(opening, now: noon)
            } == 0)
    }

    @Test func `a store of an earlier version gets its new tables when it is opened`() throws {
        let folder = try TemporaryFolder()
        _ = try folder.open()
        for name in ["sessions", "session-owners", "sent"] {
            try FileManager.default.removeItem(atPath: folder.path + "/" + name)
        }
        // Without them it can be read, and no user is logged in.
        let readOnly = try folder.open { $0.isReadOnly = true }
        #expect(try readOnly.session("s", now: noon) == nil)
        #expect(throws: StoreError.readOnly) { try readOnly.createSession(session("s"), now: noon) }
        try folder.open().createSession(session("s"), now: noon)
        #expect(try readOnly.session("s", now: noon) != nil)
    }
}
