// SPDX-License-Identifier: Apache-2.0
import Glibc
import Server
import System

/// What a command leaves to programs of the system.
enum ShellScript {
    /// Runs the script in the place of this process.
    /// - Parameter arguments: `$1` and on.
    /// - Returns: why it could not be started; else not at all.
    static func become(_ script: String, _ arguments: [String]) -> CommandError {
        var words = (["sh", "-c", script, "sh"] + arguments).map { (word: String) in strdup(word) } + [nil]
        defer { words.forEach { free($0) } }
        execv("/bin/sh", &words)
        return CommandError("/bin/sh cannot be started: \(systemErrorText())")
    }
}
