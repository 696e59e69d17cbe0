// SPDX-License-Identifier: Apache-2.0
import Glibc

/// An address of this host, and a port of it, that a server may take: PostgreSQL does not draw one itself. Of the sixteen
/// million addresses `127.x.y.z` nobody else draws the same one meanwhile.
package struct LoopbackPlace: Sendable {
    package let address: String
    package let port: UInt16

    init() throws {
        address = (["127"] + (0..<3).map { _ in String(Int.random(in: 1...254)) }).joined(separator: ".")
        let probe = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(probe) }
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_addr.s_addr = inet_addr(address)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(probe, $0, size) == 0 && getsockname(probe, $0, &size) == 0
            }
        }
        guard isBound else { throw PostgresServer.Fault(what: "no port of \(address) is free") }
        port = UInt16(bigEndian: name.sin_port)
    }
}
