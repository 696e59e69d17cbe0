// SPDX-License-Identifier: Apache-2.0
import CPlatform
import Glibc

import class System.Lock

/// A child with a clean environment, no signal blocked and no descriptor but the three that it is given. (Foundation's
/// `Process` hands down the mask of the thread that starts it, and a thread of libdispatch has SIGTERM blocked.)
package final class ChildProcess: Sendable {
    /// Where the child's standard input comes from.
    package enum Input {
        case nothing
        case file(String)
        /// Text of at most a pipe's size, then the end.
        case text(String)
        /// A descriptor of ours, a listening socket perhaps.
        case descriptor(Int32)
        /// A terminal of its own, in a session of its own. What it says goes there, too.
        case terminal(PseudoTerminal)
    }

    package struct NotStarted: Error { package let program: String }

    package let id: pid_t
    private let status = Lock<Int32?>(nil)

    /// - Parameters: `output` and `errors` are files that are appended to, where the input is not a terminal.
    package init(
        _ program: String, _ arguments: [String], environment: [String] = [], input: Input = .nothing,
        output: String = "/dev/null", errors: String = "/dev/null"
    ) throws {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | input.sessionFlag))
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        let pipe = Self.arrange(input, &actions)
        defer { if let pipe { close(pipe) } }
        for (descriptor, file) in [(STDOUT_FILENO, output), (STDERR_FILENO, errors)] {
            if case .terminal = input {
                posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, descriptor)
            } else {
                posix_spawn_file_actions_addopen(&actions, descriptor, file, O_WRONLY | O_CREAT | O_APPEND, 0o600)
            }
        }
        // Tests run side by side: a connection of another one's, which this child would hold, would not end when its
        // owner closes it, and a test that waits for its end would wait as long as this child lives.
        posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1)
        var argv = ([program] + arguments).map { strdup($0) } + [nil]
        var envp = (["PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin"] + environment).map { strdup($0) } + [nil]
        defer { (argv + envp).forEach { free($0) } }
        var id = pid_t()
        guard posix_spawn(&id, program, &actions, &attributes, &argv, &envp) == 0 else {
            throw NotStarted(program: program)
        }
        self.id = id
    }

    /// - Returns: the end of a pipe that the parent closes when the child has started.
    private static func arrange(_ input: Input, _ actions: inout posix_spawn_file_actions_t) -> Int32? {
        switch input {
        case .nothing:
            posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
            return nil
        case .file(let path):
            posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, path, O_RDONLY, 0)
            return nil
        case .terminal(let terminal):
            // The leader of a session that has none makes the first terminal that it opens its own.
            posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, terminal.path, O_RDWR, 0)
            return nil
        case .descriptor(let number):
            posix_spawn_file_actions_adddup2(&actions, number, STDIN_FILENO)
            return nil
        case .text(let text):
            var ends: [Int32] = [-1, -1]
            guard pipe(&ends) == 0 else { return nil }
            let bytes = Array(text.utf8)
            _ = write(ends[1], bytes, bytes.count)
            close(ends[1])
            posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO)
            posix_spawn_file_actions_addclose(&actions, ends[0])
            return ends[0]
        }
    }

    /// The exit status; 128 and the signal's number when a signal ended it; nil while it runs.
    package var exitStatus: Int32? {
        status.withLock { known in
            if let known { return known }
            var raw: Int32 = 0
            guard waitpid(id, &raw, WNOHANG) == id else { return nil }
            known = raw & 0x7F == 0 ? (raw >> 8) & 0xFF : 128 + (raw & 0x7F)
            return known
        }
    }

    /// - Returns: the exit status; nil when it still runs after that time.
    package func wait(seconds: Int) -> Int32? {
        Deadline.poll(seconds: seconds) { exitStatus != nil }
        return exitStatus
    }

    package func signal(_ number: Int32) {
        // Under the lock no thread reaps the child, so its number is still its own.
        status.withLock { if $0 == nil { kill(id, number) } }
    }

    /// Ends it: SIGCONT and SIGTERM, and SIGKILL after the deadline.
    /// - Returns: the exit status.
    @discardableResult package func stop(seconds: Int = 15) -> Int32? {
        signal(SIGCONT)
        signal(SIGTERM)
        if let status = wait(seconds: seconds) { return status }
        signal(SIGKILL)
        return wait(seconds: seconds)
    }
}

extension ChildProcess.Input {
    /// `POSIX_SPAWN_SETSID` of spawn.h, which Swift's module of it leaves out.
    fileprivate var sessionFlag: Int32 {
        if case .terminal = self { 0x80 } else { 0 }
    }
}
