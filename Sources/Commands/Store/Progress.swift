// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Tells whoever sits at a terminal how far long work has come, at most once a second, on standard error. In a script,
/// or a pipe, nobody waits, and nothing is said.
struct Progress {
    private static let pause = Duration.seconds(1)

    private let isWatched = isatty(STDERR_FILENO) == 1
    private var last = ContinuousClock.now

    /// - Parameter text: is made only when it is printed.
    mutating func tell(_ text: @autoclosure () -> String) {
        guard isWatched, .now >= last + Self.pause else { return }
        last = .now
        Terminal.printError(text())
    }
}
