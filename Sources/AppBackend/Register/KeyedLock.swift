// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTPTypes
import System

/// Lets those who register the same handle go one after the other.
///
/// Each registration of a handle ends the others of it, and of several at the same moment all but one are told 410, ask for
/// new ids and try again. That is rarer when they wait for each other, as they do within a process; between processes the
/// store decides (`RegisterController.deleteSuperseded`).
final class KeyedLock: Sendable {
    /// How long one waits for those before him, in seconds.
    let seconds: Int

    private struct Entry {
        let semaphore = Semaphore(value: 1)
        var users = 0
    }

    private let entries = Lock<[String: Entry]>([:])

    init(seconds: Int) {
        self.seconds = seconds
    }

    /// - Throws: `Problem` 503, when the turn did not come; what `body` throws.
    func withLock<Result>(_ handle: String, _ body: () throws -> Result) throws -> Result {
        let semaphore = entries.withLock { entries in
            entries[handle, default: Entry()].users += 1
            return entries[handle, default: Entry()].semaphore
        }
        defer {
            entries.withLock { entries in
                entries[handle]?.users -= 1
                if entries[handle]?.users == 0 { entries[handle] = nil }
            }
        }
        guard semaphore.wait(for: .seconds(seconds)) else {
            throw Problem(.serviceUnavailable, "This device is being registered already.", retryAfter: 1)
        }
        defer { semaphore.signal() }
        return try body()
    }
}
