// SPDX-License-Identifier: Apache-2.0
import Glibc
import System

/// Looks names up, all at once, and not for longer than it is given: getaddrinfo(3) itself knows no deadline, and a
/// thread that still waits in it is left behind.
enum HostLookup {
    /// Names that are looked up at once.
    static let maximumHosts = 32

    /// - Returns: those without an address, or without an answer in time.
    static func unresolved(_ hosts: [String], seconds: UInt16) -> [String] {
        let hosts = Array(hosts.prefix(maximumHosts))
        let answers = Together.ask(hosts, waiting: .seconds(Int(seconds))) { host, answer in
            if DetachedThread.start({ answer(hasAddress(host)) }) != 0 { answer(false) }
        }
        return zip(hosts, answers).filter { $1 != true }.map(\.0)
    }

    private static func hasAddress(_ host: String) -> Bool {
        var list: UnsafeMutablePointer<addrinfo>?
        defer { if let list { freeaddrinfo(list) } }
        return getaddrinfo(host, nil, nil, &list) == 0
    }
}
