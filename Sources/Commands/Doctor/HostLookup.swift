// SPDX-License-Identifier: Apache-2.0
import FastCGI
import Glibc
import System

/// Looks names up, all at once, and not for longer than it is given: getaddrinfo(3) itself knows no deadline, and a
/// thread that still waits in it is left behind.
enum HostLookup {
    /// Names that are looked up at once.
    static let maximumHosts = 32

    private final class Found: Sendable {
        let hosts = Lock<Set<String>>([])
        let ended = Semaphore()
    }

    /// - Returns: those without an address, or without an answer in time.
    static func unresolved(_ hosts: [String], seconds: UInt16) -> [String] {
        let hosts = Array(hosts.prefix(maximumHosts))
        let found = Found()
        var started = 0
        for host in hosts {
            do throws(ServerError) {
                try PlatformThread.start {
                    if hasAddress(host) { found.hosts.withLock { _ = $0.insert(host) } }
                    found.ended.signal()
                }
                started += 1
            } catch {
                continue
            }
        }
        let deadline = Deadline.after(.seconds(Int(seconds)))
        for _ in 0..<started where !found.ended.wait(until: deadline) { break }
        let resolved = found.hosts.withLock(\.self)
        return hosts.filter { !resolved.contains($0) }
    }

    private static func hasAddress(_ host: String) -> Bool {
        var list: UnsafeMutablePointer<addrinfo>?
        defer { if let list { freeaddrinfo(list) } }
        return getaddrinfo(host, nil, nil, &list) == 0
    }
}
