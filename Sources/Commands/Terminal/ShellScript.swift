// SPDX-License-Identifier: Apache-2.0
import Glibc
import Server
import System

/// What a command leaves to programs of the system.
enum ShellScript {
    /// Replaces this process with the script (`exec`).
    /// - Parameter arguments: `$1` and on.
    /// - Returns: only on failure, with the reason.
    static func become(_ script: String, _ arguments: [String]) -> CommandError {
        var words = (["sh", "-c", script, "sh"] + arguments).map { (word: String) in strdup(word) } + [nil]
        defer { words.forEach { free($0) } }
        execv("/bin/sh", &words)
        return CommandError("/bin/sh cannot be started: \(systemErrorText())")
    }
}
