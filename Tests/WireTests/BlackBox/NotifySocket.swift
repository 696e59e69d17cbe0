// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Support

import class System.Lock

/// Hears what a service tells its manager, as systemd does: datagrams on a unix socket.
///
/// The kernel keeps ten of them for who does not listen (`net.unix.max_dgram_qlen`), and the service does not wait. So a
/// thread does nothing but listen, whatever the test is at.
final class NotifySocket: Sendable {
    let path: String
    private let ear: Ear

    init(in folder: ScratchFolder) throws {
        path = folder.path("notify.sock")
        let ear = Ear(number: try LoopbackSocket.datagrams(at: path))
        self.ear = ear
        Thread { ear.listen() }.start()
    }

    deinit { ear.shut() }

    /// All assignments that were heard so far, in their order.
    func assignments() -> [String] { ear.heard.withLock(\.self) }

    /// Waits until one that begins so, and is as wanted, has come, after so many others of all kinds. A notification that
    /// is repeated may come once more with its old value.
    /// - Returns: the first; nil when none came in time.
    func wait(
        for prefix: String, after count: Int = 0, where isWanted: (String) -> Bool = { _ in true }
    ) -> String? {
        var found: String?
        Deadline.poll(seconds: 60) {
            found = assignments().dropFirst(count).first { $0.hasPrefix(prefix) && isWanted($0) }
            return found != nil
        }
        return found
    }
}

private final class Ear: Sendable {
    let heard = Lock<[String]>([])
    private let number: Int32

    init(number: Int32) {
        self.number = number
    }

    deinit { close(number) }

    /// Returns when it was shut.
    func listen() {
        var bytes = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(number, &bytes, bytes.count, 0)
            guard count > 0 else { return }
            let lines = String(decoding: bytes.prefix(count), as: UTF8.self).split(separator: "\n").map(String.init)
            heard.withLock { $0 += lines }
        }
    }

    func shut() { shutdown(number, Int32(SHUT_RDWR)) }
}
