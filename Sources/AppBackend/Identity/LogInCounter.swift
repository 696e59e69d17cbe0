// SPDX-License-Identifier: Apache-2.0

/// What happened to the credentials of a request.
package enum LogInEvent: Sendable {
    /// They were right a moment ago.
    case remembered
    /// They had to be checked against the store, for the first time or once more.
    case notRemembered
    case verified, failed, throttled, delayed, busy
    /// One user's password was tried too often, from any networks.
    case guessed
}

/// Counts log-ins for the operator.
package protocol LogInCounter: Sendable {
    /// Called on the request's thread; must not block.
    func count(_ event: LogInEvent)
}
