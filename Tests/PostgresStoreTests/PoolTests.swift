// SPDX-License-Identifier: Apache-2.0
import Foundation
import PostgresServer
import Processes
import Store
import Synchronization
import Testing

@testable import PostgresStore

@Suite struct `The pool of connections` {
    private func pool(_ url: String, size: Int) throws -> ConnectionPool {
        let library = try LibPQ()
        let settings = try ConnectionSettings(
            url: url, schema: "app_backend", statementTimeout: .seconds(5), library)
        return ConnectionPool(library, settings, size: size)
    }

    @Test func `who finds all connections taken is turned away at his deadline, or gets the one that is given back`()
        throws
    {
        let pool = try pool(Site().url, size: 1)
        let loan = try pool.take(until: Deadline(.seconds(20)))
        #expect(throws: CallFailure.exhausted) { try pool.take(until: Deadline(.milliseconds(20))) }
        #expect(CallFailure.exhausted.storeError("user") == .busy(retryAfterSeconds: 1))
        pool.giveBack(loan, keeping: true)
        let again = try pool.take(until: Deadline(.seconds(20)))
        #expect(again.connection === loan.connection)
        // One whose call broke off is not lent again.
        pool.giveBack(again, keeping: false)
        let new = try pool.take(until: Deadline(.seconds(20)))
        #expect(new.connection !== loan.connection)
        pool.giveBack(new, keeping: true)
    }

    @Test func `a connection in the middle of a transaction is not lent again`() throws {
        let pool = try pool(Site().url, size: 1)
        let loan = try pool.take(until: Deadline(.seconds(20)))
        try loan.connection.run("BEGIN", until: Deadline(.seconds(20)))
        pool.giveBack(loan, keeping: true)
        let next = try pool.take(until: Deadline(.seconds(20)))
        #expect(next.connection !== loan.connection)
        pool.giveBack(next, keeping: true)
    }

    @Test func `a server that hangs up on everybody is not asked by everybody`() throws {
        let door = try SlammedDoor()
        let pool = try pool("postgresql://app@/d?host=\(door.folder)", size: 8)
        let outcomes = inParallel(8) { _ in
            (0..<500).count { _ in
                do throws(CallFailure) {
                    pool.giveBack(try pool.take(until: Deadline(.seconds(20))), keeping: true)
                    return false
                } catch {
                    if case .unreachable = error { return true } else { return false }
                }
            }
        }
        // All have failed, and nearly all of them without a try of their own.
        #expect(outcomes.allSatisfy { $0 == 500 })
        #expect((1..<100).contains(door.visitors))
    }

    @Test func `a first server that says nothing keeps nobody from the second one`() throws {
        let door = try BlockedDoor()
        let site = try Site()
        let database = try site.run("SELECT current_database()")
        let url = "postgresql://app@/\(database)?host=127.0.0.1,\(site.server.folder)&port=\(door.port),5432"
        var options = PostgresStore.Options()
        options.timeout = .seconds(4)
        let store = try PostgresStore.open(url: url, options: options)
        #expect(try store.users() == [])
    }
}

/// A port whose listener takes nobody in any more: who knocks hears nothing, as from a machine that is switched off.
private final class BlockedDoor {
    let port: UInt16
    private let sockets: [Int32]

    init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isOpen = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, size) == 0 && listen(listener, 0) == 0 && getsockname(listener, $0, &size) == 0
            }
        }
        try #require(isOpen)
        port = UInt16(bigEndian: address.sin_port)
        // More than wait in a queue of none.
        let visitors = (0..<4).map { _ in
            let visitor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | O_NONBLOCK, 0)
            _ = withUnsafePointer(to: address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(visitor, $0, size) }
            }
            return visitor
        }
        sockets = [listener] + visitors
    }

    deinit { sockets.forEach { close($0) } }
}

/// Listens where a server would, and hangs up on whoever comes.
private final class SlammedDoor: Sendable {
    let folder: String
    private let listener: Int32
    private let count = Atomic(0)

    var visitors: Int { count.load(ordering: .relaxed) }

    init() throws {
        var template = Array("/tmp/door-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let path = Array((folder + "/.s.PGSQL.5432").utf8)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
        let isBound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(isBound == 0 && listen(listener, 64) == 0)
        let thread = Thread { [listener, weak self] in
            while case let visitor = accept(listener, nil, nil), visitor >= 0 {
                self?.count.add(1, ordering: .relaxed)
                close(visitor)
            }
        }
        thread.start()
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
        unlink(folder + "/.s.PGSQL.5432")
        rmdir(folder)
    }
}
