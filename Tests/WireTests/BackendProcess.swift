// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Support

import class System.Lock

/// A real `app-backend serve` on a socket of its own.
final class BackendProcess: Sendable {
    struct NotStarted: Error { let log: String }

    let name: String
    let folder: ScratchFolder
    var configuration: String { folder.path("\(name).json") }
    var socket: String { folder.path("\(name).sock") }
    /// What it said on standard output and standard error, over all its lives.
    var logPath: String { folder.path("\(name).log") }
    /// What standard input is when it starts: a listening socket, where the parent opened one.
    private let listener: Int32?
    private let process: Lock<ChildProcess?>
    private let isHandedSocket: Bool
    private let isLimited: Bool
    private let environment: [String]

    /// - Parameters:
    ///   - name: of its files in the folder.
    ///   - environment: `NAME=value` each.
    ///   - keys: members of the configuration file besides `listen`.
    ///   - isLimited: whether a user may do no more than users do; tests make all their calls with a few.
    ///   - isHandedSocket: whether its socket is made here and outlives the process, as systemd's does.
    init(
        _ name: String, in folder: ScratchFolder, isHandedSocket: Bool = false, isLimited: Bool = false,
        environment: [String] = [],
        keys: String
    ) throws {
        self.name = name
        self.folder = folder
        self.isHandedSocket = isHandedSocket
        self.isLimited = isLimited
        self.environment = environment
        listener = isHandedSocket ? try LoopbackSocket.listen(at: folder.path("\(name).sock")) : nil
        process = Lock(nil)
        try configure(keys: keys)
        try start()
    }

    /// Replaces the configuration; the process reads it when it starts or reloads.
    func configure(keys: String) throws {
        let listen = isHandedSocket ? "null" : "\"\(socket)\""
        let limits = isLimited ? "" : Self.noLimits + ", "
        try folder.write("{ \"listen\": \(listen), \(limits)\(keys) }", to: "\(name).json")
    }

    /// Members of a configuration that let each user do as much as it can.
    static let noLimits = ["sendsPerMinute", "registrationsPerMinute", "listsPerMinute", "bytesUnderWay"]
        .map { "\"limits.\($0)\": 0" }.joined(separator: ", ")

    deinit {
        if let listener { close(listener) }
    }

    /// Starts it again, and returns when connections to its socket are taken.
    func start() throws {
        let child = try ChildProcess(
            Program.appBackend, ["serve", "--config", configuration], environment: environment,
            input: listener.map { .descriptor($0) } ?? .nothing, output: logPath, errors: logPath)
        process.withLock { $0 = child }
        let isReady = Deadline.poll(seconds: 90) { child.exitStatus != nil || LoopbackSocket.answers(socket) }
        guard isReady, child.exitStatus == nil else {
            child.stop()
            throw NotStarted(log: log)
        }
    }

    var log: String { (try? String(contentsOfFile: logPath, encoding: .utf8)) ?? "" }

    /// The process's number; 0 when there is none.
    var id: Int32 { process.withLock(\.self)?.id ?? 0 }

    func signal(_ number: Int32) {
        process.withLock(\.self)?.signal(number)
    }

    /// As `ChildProcess.exitStatus`.
    var exitStatus: Int32? { process.withLock(\.self)?.exitStatus }

    /// Whether a signal has stopped it, and it has not gone on (proc(5), `stat`, behind the name in brackets).
    var isStopped: Bool {
        guard let id = process.withLock({ $0?.id }),
            let text = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8)
        else { return false }
        return text.split(separator: ")").last?.hasPrefix(" T") ?? false
    }

    /// What each of its threads that sleeps has asked the kernel for: the call's number, its six arguments and two
    /// addresses (proc(5), `syscall`), as hexadecimal numbers but the first.
    var systemCalls: [String: [String]] {
        guard let id = process.withLock({ $0?.id }) else { return [:] }
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(id)/task")) ?? []
        return threads.reduce(into: [:]) { calls, thread in
            let path = "/proc/\(id)/task/\(thread)/syscall"
            let call = ((try? String(contentsOfFile: path, encoding: .utf8)) ?? "").split(separator: " ")
            if call.count == 9 { calls[thread] = call.map(String.init) }
        }
    }

    /// As `ChildProcess.wait`.
    func wait(seconds: Int) -> Int32? {
        process.withLock(\.self)?.wait(seconds: seconds)
    }

    /// SIGTERM, and SIGKILL for one that does not listen.
    /// - Returns: the exit status.
    @discardableResult func stop() -> Int32? {
        process.withLock(\.self)?.stop(seconds: 120)
    }

    /// SIGKILL: a process that has no time to tidy up.
    func kill() {
        signal(SIGKILL)
        _ = process.withLock(\.self)?.wait(seconds: 60)
    }
}
