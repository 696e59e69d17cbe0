// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What may befall a server.
extension PostgresServer {
    /// `kill -9` of the server: all its processes at once, as a loss of power would end them.
    package func killAll() throws {
        guard let child = process.take() else { return }
        // Stopped, it can neither start others nor see that they die.
        try stop(child)
        let areGone = Deadline.poll(seconds: Self.seconds) {
            let others = children(of: child)
            for id in others { kill(id, SIGKILL) }
            return others.isEmpty
        }
        child.signal(SIGKILL)
        guard areGone, child.wait(seconds: Self.seconds) != nil else {
            throw Fault(what: "a process of the server outlives SIGKILL")
        }
    }

    /// Stops all its processes where they are: it neither answers nor refuses.
    package func freeze() throws {
        guard let child = process.current else { return }
        try stop(child)
        let areStopped = Deadline.poll(seconds: Self.seconds) {
            let running = children(of: child).filter { state(of: $0)?.first != "T" }
            for id in running { kill(id, SIGSTOP) }
            return running.isEmpty
        }
        guard areStopped else { throw Fault(what: "a process of the server outruns SIGSTOP") }
    }

    package func thaw() {
        guard let child = process.current else { return }
        for id in children(of: child) { kill(id, SIGCONT) }
        child.signal(SIGCONT)
    }

    /// A signal is heeded a moment after kill(2) has returned, and the child may start one more process until then.
    private func stop(_ child: ChildProcess) throws {
        child.signal(SIGSTOP)
        guard Deadline.poll(seconds: Self.seconds, { state(of: child.id)?.first == "T" }) else {
            throw Fault(what: "the server outruns SIGSTOP")
        }
    }

    /// Those that are alive. Every process of the server is a child of the first one, which reaps none while it is stopped.
    private func children(of child: ChildProcess) -> [pid_t] {
        TextFile.names(in: "/proc").compactMap { pid_t($0) }.filter { id in
            let words = state(of: id) ?? []
            return words.count > 1 && words[1] == "\(child.id)" && words[0] != "Z"
        }
    }

    /// The words of `/proc/<id>/stat` from the third, the state, on; the fourth is the parent. The second is a name in
    /// brackets, which may hold anything.
    private func state(of id: pid_t) -> [Substring]? {
        TextFile.read("/proc/\(id)/stat")?.split(separator: ")").last?.split(separator: " ")
    }
}
