// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Prints the progress of long work on standard error, at most once a second, where that is a terminal. In a script or a
/// pipe it prints nothing.
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
