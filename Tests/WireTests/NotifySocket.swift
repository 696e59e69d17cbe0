// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Processes
import Synchronization

/// Hears what a service tells its manager, as systemd does: datagrams on a unix socket.
final class NotifySocket: Sendable {
    let path: String
    private let number: Int32
    private let heard = Mutex<[String]>([])

    init(in folder: ScratchFolder) throws {
        path = folder.path("notify.sock")
        number = try LoopbackSocket.datagrams(at: path)
    }

    deinit {
        close(number)
    }

    /// All assignments so far, in their order.
    func assignments() -> [String] {
        var bytes = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(number, &bytes, bytes.count, Int32(MSG_DONTWAIT))
            guard count > 0 else { break }
            let lines = String(decoding: bytes.prefix(count), as: UTF8.self).split(separator: "\n").map(String.init)
            heard.withLock { $0 += lines }
        }
        return heard.withLock(\.self)
    }

    /// Waits until one that begins so has come, after so many others of all kinds.
    /// - Returns: the first; nil when none came in time.
    func wait(for prefix: String, after count: Int = 0) -> String? {
        var found: String?
        Deadline.poll(seconds: 20) {
            found = assignments().dropFirst(count).first { $0.hasPrefix(prefix) }
            return found != nil
        }
        return found
    }
}
