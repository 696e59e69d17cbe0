// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The signals that the process heeds, taken by one thread and never by a handler.
///
/// They are blocked in `main` before any thread starts. Besides SIGTERM they are what process managers say instead:
/// FastCGI's own SIGUSR1 (multiwatch), and SIGQUIT.
package enum Signals {
    private static func set() -> sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in [SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1] { sigaddset(&set, signal) }
        return set
    }

    /// Blocks them in this thread and all that it starts later; SIGPIPE is ignored from here on.
    package static func block() {
        var set = set()
        pthread_sigmask(SIG_BLOCK, &set, nil)
        signal(SIGPIPE, SIG_IGN)
    }

    /// Waits for one of them (sigwait).
    /// - Returns: its number.
    package static func wait() -> Int32 {
        var set = set()
        var signal: Int32 = 0
        while sigwait(&set, &signal) != 0 {}
        return signal
    }
}
