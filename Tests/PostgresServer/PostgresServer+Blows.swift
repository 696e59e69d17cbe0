// SPDX-License-Identifier: Apache-2.0
import Glibc
import Processes

/// What may befall a server.
extension PostgresServer {
    /// `kill -9` of the server: all its processes at once, as a loss of power would end them.
    package func killAll() throws {
        guard let child = process.take() else { return }
        // Stopped, it can neither start others nor see that they die.
        try stop(child)
        let areGone = Deadline.poll(seconds: Self.seconds) {
            let others = processes.filter { $0 != child.id }
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
            let running = processes.filter { !isStopped($0) }
            for id in running { kill(id, SIGSTOP) }
            return running.isEmpty
        }
        guard areStopped else { throw Fault(what: "a process of the server outruns SIGSTOP") }
    }

    package func thaw() {
        guard let child = process.current else { return }
        for id in processes { kill(id, SIGCONT) }
        child.signal(SIGCONT)
    }

    /// A signal is heeded a moment after kill(2) has returned, and the child may start one more process until then.
    private func stop(_ child: ChildProcess) throws {
        child.signal(SIGSTOP)
        guard Deadline.poll(seconds: Self.seconds, { isStopped(child.id) }) else {
            throw Fault(what: "the server outruns SIGSTOP")
        }
    }

    /// All that work in the folder of the data, as every process of the server does. One that has ended has no such
    /// folder, also where nobody has asked for its status yet.
    private var processes: [pid_t] {
        TextFile.names(in: "/proc").compactMap { pid_t($0) }.filter { TextFile.target(of: "/proc/\($0)/cwd") == data }
    }

    /// The third word of `/proc/<id>/stat`, behind a name in brackets, which may hold anything.
    private func isStopped(_ id: pid_t) -> Bool {
        TextFile.read("/proc/\(id)/stat")?.split(separator: ")").last?.split(separator: " ").first == "T"
    }
}
