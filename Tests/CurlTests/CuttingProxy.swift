// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Synchronization

/// Passes bytes on between clients and a server on this host. From `cut()` on it lets one more thing that a client says
/// through to the server, waits until the server has answered, and then resets the connection instead of passing the
/// answer on: what was asked has been done, and the client cannot know.
final class CuttingProxy: Sendable {
    private let listener: LoopbackListener
    private let server: UInt16
    private let isCutting = Atomic(false)

    var port: UInt16 { listener.port }

    init(to server: UInt16) throws {
        self.server = server
        listener = try LoopbackListener()
        Thread { [self] in
            while true {
                let client = listener.accept()
                guard client >= 0 else { return }
                Thread { [self] in pass(client) }.start()
            }
        }.start()
    }

    func cut() { isCutting.store(true, ordering: .sequentiallyConsistent) }

    /// Ends `accept`; connections end with their clients.
    func stop() { shutdown(listener.descriptor, Int32(SHUT_RDWR)) }

    private func pass(_ client: Int32) {
        let upstream = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer {
            close(client)
            close(upstream)
        }
        var address = Self.loopback(server)
        let isConnected = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(upstream, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else { return }
        var ends = [
            pollfd(fd: client, events: Int16(POLLIN), revents: 0),
            pollfd(fd: upstream, events: Int16(POLLIN), revents: 0),
        ]
        var hasAsked = false
        while poll(&ends, 2, 30_000) > 0 {
            if ends[1].revents != 0 {
                if hasAsked { return reset(client) }
                guard copy(from: upstream, to: client) else { return }
            }
            if ends[0].revents != 0 {
                if isCutting.exchange(false, ordering: .sequentiallyConsistent) { hasAsked = true }
                guard copy(from: client, to: upstream) else { return }
            }
        }
    }

    private func copy(from source: Int32, to target: Int32) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = read(source, &bytes, bytes.count)
        return count > 0 && send(target, bytes, count, Int32(MSG_NOSIGNAL)) == count
    }

    /// A close that waits for nothing sends a reset.
    private func reset(_ client: Int32) {
        var now = linger(l_onoff: 1, l_linger: 0)
        setsockopt(client, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
    }

    private static func loopback(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        return address
    }
}
