// SPDX-License-Identifier: Apache-2.0
import Logging
import System

/// Writes a line for each wrong password, with the client's address, which tools like fail2ban read. The number of lines is
/// bounded, so that no client fills the log.
///
/// Wrong app tokens have no line: these cannot be guessed, and an app with a token that has ended would shut out all who
/// share its address.
final class FailedLogInLog: Sendable {
    /// The lines of one network in a window; more than such a tool waits for.
    static let maximumOfNetwork = 10
    /// The lines of all networks in a window.
    static let maximumLines = 300
    /// The window, in seconds.
    static let windowSeconds: Int64 = 60

    private struct Window: Sendable {
        var beganAt: Int64 = 0
        var lines: [ClientNetwork: Int] = [:]
        var count = 0
        var withoutLine = 0
    }

    private let logger: Logger?
    private let window = Lock(Window())

    /// - Parameter logger: `nil` if nothing is to be logged.
    init(_ logger: Logger?) {
        self.logger = logger
    }

    /// - Parameters:
    ///   - address: the client's, as the web server gave it; empty if it gave none.
    ///   - user: a user's name; `nil` if no user has the name, which may be a password that was typed in its place.
    ///   - now: seconds on the clock that cannot be set.
    func report(address: String, user: String?, now: Int64) {
        guard let logger else { return }
        let network = ClientNetwork(address)
        let (isWritten, withoutLine) = window.withLock { window -> (Bool, Int) in
            var former = 0
            if !(window.beganAt..<window.beganAt + Self.windowSeconds).contains(now) {
                former = window.withoutLine
                window = Window(beganAt: now)
            }
            let lines = window.lines[network, default: 0]
            guard window.count < Self.maximumLines, lines < Self.maximumOfNetwork else {
                window.withoutLine += 1
                return (false, former)
            }
            window.lines[network] = lines + 1
            window.count += 1
            return (true, former)
        }
        if withoutLine > 0 {
            logger.notice("log-in: \(withoutLine) more failed in an earlier minute, and have no line of their own")
        }
        guard isWritten else { return }
        var metadata: Logger.Metadata = ["address": "\(address.isEmpty ? "-" : address)"]
        if let user { metadata["user"] = "\(user)" }
        logger.notice("log-in: failed", metadata: metadata)
    }
}
