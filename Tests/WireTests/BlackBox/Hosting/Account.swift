// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// Whom a shared host's programs run as: an ordinary user. Where the tests are root's that is uid 65534, with the help of
/// setpriv(1); else it is the user who runs the tests.
enum Account {
    private static let unprivileged: uid_t = 65_534
    private static let isSomebodyElse = geteuid() == 0

    /// The program, and the arguments, that run `program` as the account.
    static func command(_ program: String, _ arguments: [String]) -> (program: String, arguments: [String]) {
        guard isSomebodyElse else { return (program, arguments) }
        let become = ["--reuid=\(unprivileged)", "--regid=\(unprivileged)", "--clear-groups", "--no-new-privs", "--"]
        return ("/usr/bin/setpriv", become + [program] + arguments)
    }

    /// Gives a folder, and all that is in it, to the account.
    static func own(_ folder: String) throws {
        guard isSomebodyElse else { return }
        let outcome = try Program.run("/bin/chown", ["--recursive", "\(unprivileged):\(unprivileged)", folder])
        guard outcome.status == 0 else { throw Program.NotCopied(reason: outcome.errors) }
    }
}
