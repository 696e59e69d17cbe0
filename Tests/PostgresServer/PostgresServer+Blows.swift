// SPDX-License-Identifier: Apache-2.0
import Glibc
import Processes

/// What may befall a server.
extension PostgresServer {
    /// `kill -9` of the server: all its processes at once, as a loss of power would end them.
    package func killAll() throws {
        guard let child = process.take() else { return }
        // Stopped, it can neither start others nor see that they die.
        child.signal(SIGSTOP)
        let others = children(of: child.id)
        for id in others { kill(id, SIGKILL) }
        child.signal(SIGKILL)
        guard child.wait(seconds: 20) != nil else { throw Fault(what: "the server outlives SIGKILL") }
        let areGone = Deadline.poll(seconds: 20) { others.allSatisfy { kill($0, 0) != 0 } }
        guard areGone else { throw Fault(what: "a process of the server outlives SIGKILL") }
    }

    /// Stops all its processes where they are: it neither answers nor refuses.
    package func freeze() {
        guard let child = process.current else { return }
        child.signal(SIGSTOP)
        for id in children(of: child.id) { kill(id, SIGSTOP) }
    }

    package func thaw() {
        guard let child = process.current else { return }
        for id in children(of: child.id) { kill(id, SIGCONT) }
        child.signal(SIGCONT)
    }

    /// The fourth word of `/proc/<id>/stat` is the parent; the second, a name in brackets, may hold anything.
    private func children(of parent: pid_t) -> [pid_t] {
        TextFile.names(in: "/proc").compactMap { pid_t($0) }.filter { id in
            let rest = TextFile.read("/proc/\(id)/stat")?.split(separator: ")").last?.split(separator: " ") ?? []
            return rest.count > 1 && rest[1] == "\(parent)"
        }
    }
}
