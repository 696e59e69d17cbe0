// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

import class System.Lock

/// Passes bytes on between clients and a server on this host. After `cut(when:)` the next connection on which a client
/// says anything is passed on to the server alone, until the condition holds, and is then reset: what was asked has been
/// done, and the client cannot know.
final class CuttingProxy: Sendable {
    private let listener: LoopbackListener
    private let server: UInt16
    private let condition = Lock<Condition?>(nil)

    typealias Condition = @Sendable () -> Bool

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

    func cut(when isDone: @escaping Condition) { condition.withLock { $0 = isDone } }

    /// Ends `accept`; connections end with their clients.
    func stop() { shutdown(listener.descriptor, Int32(SHUT_RDWR)) }

    private func pass(_ client: Int32) {
        let upstream = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
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
        var ends = [client, upstream].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        var isDone: Condition?
        while poll(&ends, 2, isDone == nil ? 30_000 : 1) >= 0 {
            if isDone?() == true { return reset(client) }
            if ends[0].revents != 0 {
                isDone = isDone ?? condition.withLock { $0.take() }
                guard copy(from: client, to: upstream) else { return }
            }
            if ends[1].revents != 0 {
                guard copy(from: upstream, to: isDone == nil ? client : nil) else { return }
            }
        }
    }

    /// - Parameter target: nil lets the bytes fall.
    private func copy(from source: Int32, to target: Int32?) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = read(source, &bytes, bytes.count)
        guard count > 0, let target else { return count > 0 }
        return send(target, bytes, count, Int32(MSG_NOSIGNAL)) == count
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
