// SPDX-License-Identifier: Apache-2.0
import Glibc
import Support

import class System.Lock

/// A server's own process, over its lives.
final class ServerProcess: Sendable {
    struct NotStarted: Error { let log: String }

    private let child = Lock<ChildProcess?>(nil)

    /// Starts it, and waits until it is ready.
    func start(_ make: () throws -> ChildProcess, log: () -> String, isReady: () -> Bool) throws {
        let started = try make()
        child.withLock { $0 = started }
        let isUp = Deadline.poll(seconds: 60) { started.exitStatus != nil || isReady() }
        guard isUp, started.exitStatus == nil else {
            started.stop()
            throw NotStarted(log: log())
        }
    }

    func signal(_ number: Int32) { child.withLock(\.self)?.signal(number) }

    /// SIGTERM, and SIGKILL for one that does not listen.
    func stop() { child.withLock(\.self)?.stop(seconds: 60) }
}
