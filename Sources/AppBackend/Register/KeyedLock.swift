// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTPTypes
import System

/// A lock for each key: of the requests that register one handle it lets one go at a time.
///
/// Each registration of a handle deletes the others of it. Of several at the same moment all but one answer 410, and their
/// devices ask for new ids and try again. Waiting makes that rarer within a process; between processes the store decides
/// (`RegisterController.deleteSuperseded`).
final class KeyedLock: Sendable {
    /// How long a request waits for those before it, in seconds.
    let seconds: Int

    private struct Entry {
        let semaphore = Semaphore(value: 1)
        var users = 0
    }

    private let entries = Lock<[String: Entry]>([:])

    init(seconds: Int) {
        self.seconds = seconds
    }

    /// - Throws: `Problem` 503, when the lock was not free in time; what `body` throws.
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
            throw Problem(.storeBusy, "This device is being registered already.", retryAfter: 1)
        }
        defer { semaphore.signal() }
        return try body()
    }
}
