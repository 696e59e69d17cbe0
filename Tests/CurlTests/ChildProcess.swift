// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A child with no signal blocked. Foundation's `Process` hands down the mask of the thread that starts it, and a
/// thread of libdispatch has SIGTERM blocked: nginx would never hear it.
struct ChildProcess {
    let id: pid_t

    struct NotStarted: Error { let program: String }

    init(_ program: String, _ arguments: [String]) throws {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
            posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
        }
        var argv = ([program] + arguments).map { strdup($0) } + [nil]
        defer { argv.forEach { free($0) } }
        var id = pid_t()
        guard posix_spawn(&id, program, &actions, &attributes, &argv, environ) == 0 else {
            throw NotStarted(program: program)
        }
        self.id = id
    }

    var hasEnded: Bool { waitpid(id, nil, WNOHANG) != 0 }

    /// - Returns: whether it ended well, by itself.
    func wait() -> Bool {
        var status: Int32 = 0
        return waitpid(id, &status, 0) == id && status == 0
    }

    func terminate() {
        kill(id, SIGTERM)
        _ = wait()
    }
}
