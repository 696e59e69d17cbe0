// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import FastCGI

@Suite struct ListenerTests {
    @Test(arguments: [
        (nil, ListenAddress.inherited), ("/run/a.sock", .unix(path: "/run/a.sock")),
        ("127.0.0.1:9000", .tcp(host: "127.0.0.1", port: 9000)), ("localhost:0", .tcp(host: "127.0.0.1", port: 0)),
        ("127.8.8.8:1", .tcp(host: "127.8.8.8", port: 1)), ("[::1]:9000", .tcp(host: "::1", port: 9000)),
    ])
    func `an address is read`(_ text: String?, _ address: ListenAddress) throws {
        #expect(try ListenAddress(text) == address)
    }

    @Test(arguments: ["", "run/a.sock", "9000", ":9000", "127.0.0.1:", "127.0.0.1:65536", "example.org:80", "1.2.3:4"])
    func `what is no address is refused`(_ text: String) {
        #expect(throws: ListenError.badAddress(text)) { try ListenAddress(text) }
    }

    @Test func `a path that does not fit is refused`() throws {
        let fits = "/" + String(repeating: "a", count: 106)
        #expect(try ListenAddress(fits) == .unix(path: fits))
        #expect(throws: ListenError.badAddress(fits + "a")) { try ListenAddress(fits + "a") }
    }

    @Test(arguments: ["0.0.0.0:9000", "192.168.1.1:9000", "[::]:9000", "[fe80::1]:9000"])
    func `another machine gets in only when it is allowed`(_ text: String) throws {
        #expect(throws: ListenError.notLoopback(text)) { try ListenAddress(text) }
        _ = try ListenAddress(text, allowNonLoopback: true)
    }

    @Test func `a free port is found and told`() throws {
        let listener = try Listener.open(.tcp(host: "127.0.0.1", port: 0))
        let port = try #require(listener.port)
        #expect(port > 0)
        #expect(listener.description == "127.0.0.1:\(port)")
        #expect(throws: ListenError.inUse("127.0.0.1:\(port)")) {
            try Listener.open(.tcp(host: "127.0.0.1", port: port))
        }
    }

    private func withFolder(_ story: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "l-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        try story(folder.appending(path: "s").path)
    }

    @Test func `a socket file is for owner and group and goes with its listener`() throws {
        try withFolder { path in
            do {
                let listener = try Listener.open(.unix(path: path))
                #expect(listener.description == path)
                let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
                #expect(mode == 0o660)
            }
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    @Test func `a live socket is not stolen`() throws {
        try withFolder { path in
            let listener = try Listener.open(.unix(path: path))
            #expect(throws: ListenError.inUse(path)) { try Listener.open(.unix(path: path)) }
            #expect(RawClient(path: path) != nil)
            withExtendedLifetime(listener) {}
        }
    }

    @Test func `a dead process's socket file is replaced`() throws {
        try withFolder { path in
            _ = try SocketFile.listen(at: path, backlog: 1)
            #expect(FileManager.default.fileExists(atPath: path))
            // A child of another test may hold a copy of the descriptor for a moment.
            #expect(eventually { RawClient(path: path) == nil })
            let listener = try Listener.open(.unix(path: path))
            #expect(RawClient(path: path) != nil)
            withExtendedLifetime(listener) {}
        }
    }

    @Test func `a file of another kind is left alone`() throws {
        try withFolder { path in
            try Data("mine".utf8).write(to: URL(fileURLWithPath: path))
            #expect(throws: ListenError.notASocket(path)) { try Listener.open(.unix(path: path)) }
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("mine".utf8))
        }
    }

    @Test func `a socket file that has been replaced is not removed`() throws {
        try withFolder { path in
            do {
                let listener = try Listener.open(.unix(path: path))
                try FileManager.default.removeItem(atPath: path)
                try Data("new".utf8).write(to: URL(fileURLWithPath: path))
                withExtendedLifetime(listener) {}
            }
            #expect(FileManager.default.fileExists(atPath: path))
        }
    }

    @Test func `a limit that makes no sense is refused by name`() throws {
        var limits = ServerLimits()
        #expect(limits.fault == nil)
        limits.workers = 0
        #expect(limits.fault == "workers")
        limits.workers = 1
        limits.bodyBytes = .max
        #expect(limits.fault == "bodyBytes")
    }
}
