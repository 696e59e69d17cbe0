// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import Testing

/// A socket where a server would have it, in a folder of its own.
private struct Doorway {
    let folder: String
    let listener: Int32

    /// - Parameter flags: of socket(2).
    init(_ flags: Int32 = 0) throws {
        var template = Array("/tmp/door-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | flags, 0)
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
    }

    /// Wakes the thread that waits at the listener.
    func shut() {
        shutdown(listener, Int32(SHUT_RDWR))
        unlink(folder + "/.s.PGSQL.5432")
        rmdir(folder)
    }
}

/// Lets everybody in who comes, and says nothing, like a server whose processes are stopped.
final class SilentDoor {
    private let way: Doorway
    private var inside: [Int32] = []

    init() throws { way = try Doorway(O_NONBLOCK) }

    var folder: String { way.folder }

    /// How many have come until now.
    var visitors: Int {
        while case let visitor = accept(way.listener, nil, nil), visitor >= 0 { inside.append(visitor) }
        return inside.count
    }

    deinit {
        inside.forEach { close($0) }
        way.shut()
        close(way.listener)
    }
}

/// Hangs up on each client that comes.
final class SlammedDoor: Sendable {
    private let way: Doorway
    private let count = Atomic(0)

    var folder: String { way.folder }
    var visitors: Int { count.load(ordering: .relaxed) }

    init() throws {
        way = try Doorway()
        let thread = Thread { [listener = way.listener, weak self] in
            while case let visitor = accept(listener, nil, nil), visitor >= 0 {
                self?.count.add(1, ordering: .relaxed)
                close(visitor)
            }
            // Here, where no thread accepts on that number any more: it may be another socket's at once.
            close(listener)
        }
        thread.start()
    }

    deinit { way.shut() }
}
