// SPDX-License-Identifier: Apache-2.0

/// Why the storage of a hub in this process did not do what it was asked.
package struct HubStorageError: Error, Equatable, Sendable, CustomStringConvertible {
    package enum Reason: Sendable {
        /// It cannot be written, and nothing was.
        case full
        /// Others keep it from being used for too long; nothing was done.
        case busy
        /// It failed; whether it has kept something is not known.
        case unavailable
    }

    package let reason: Reason
    /// When to try again.
    package let retryAfterSeconds: Int
    /// For the log: names calls, files and codes, never content.
    package let description: String

    package init(_ reason: Reason, retryAfterSeconds: Int, cause: String) {
        self.reason = reason
        self.retryAfterSeconds = retryAfterSeconds
        description = cause
    }
}
