// SPDX-License-Identifier: Apache-2.0
import Glibc

import class System.Lock

/// A terminal at which a test sits (pty(7)): it reads what programs write there, and types.
package final class PseudoTerminal: Sendable {
    package struct NotMade: Error { package let code: Int32 }

    /// ^C, which the terminal makes SIGINT of for all programs in its foreground.
    package static let interrupt = "\u{3}"

    /// What programs open.
    package let path: String
    private let ours: Int32
    private let said = Lock<[UInt8]>([])

    package init() throws {
        var (ours, theirs): (Int32, Int32) = (-1, -1)
        var name = [CChar](repeating: 0, count: 128)
        guard openpty(&ours, &theirs, nil, nil, nil) == 0 else { throw NotMade(code: errno) }
        defer { close(theirs) }
        guard fcntl(ours, F_SETFD, FD_CLOEXEC) == 0, fcntl(ours, F_SETFL, O_NONBLOCK) == 0,
            ttyname_r(theirs, &name, name.count) == 0
        else {
            close(ours)
            throw NotMade(code: errno)
        }
        self.ours = ours
        path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { close(ours) }

    /// - Parameter text: less than a line of a terminal can have (4095 bytes).
    package func type(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(ours, bytes, bytes.count)
    }

    /// All that was written there until now, with what was typed, which a terminal shows. Its lines end in CR LF.
    package var text: String {
        said.withLock { said in
            var piece = [UInt8](repeating: 0, count: 4096)
            while true {
                // Also fails when no program has the terminal open, then or any more (EIO).
                let count = read(ours, &piece, piece.count)
                guard count > 0 else { break }
                said += piece.prefix(count)
            }
            return String(decoding: said, as: UTF8.self)
        }
    }

    /// Waits until a text was shown so often.
    /// - Returns: whether it came in time.
    package func shows(_ part: String, times: Int = 1, seconds: Int = 20) -> Bool {
        Deadline.poll(seconds: seconds) { text.split(separator: part, omittingEmptySubsequences: false).count > times }
    }
}
