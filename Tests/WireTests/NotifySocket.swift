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

    /// Waits until one that begins so, and is as wanted, has come, after so many others of all kinds. What is told
    /// again and again may be told once more as it was before.
    /// - Returns: the first; nil when none came in time.
    func wait(
        for prefix: String, after count: Int = 0, where isWanted: (String) -> Bool = { _ in true }
    ) -> String? {
        var found: String?
        Deadline.poll(seconds: 20) {
            found = assignments().dropFirst(count).first { $0.hasPrefix(prefix) && isWanted($0) }
            return found != nil
        }
        return found
    }
}
