// SPDX-License-Identifier: Apache-2.0
import Curl
import Foundation
import HTTP
import Processes

/// A private nginx with the files that are shipped, laid out as `script/run` does it, on free loopback ports.
final class FrontDoor: Sendable {
    struct NotStarted: Error { let log: String }

    let port: UInt16
    /// Where the site's plain-text half answers.
    let plainPort: UInt16
    /// Everything of nginx's: files, logs, what it may have put down.
    let folder: String
    private let process: ChildProcess

    /// Starts it and waits until it answers for the responders behind it.
    ///
    /// Somebody else may take a port between our asking for a free one and nginx's binding it; then others are tried.
    init(_ changes: Changes, certificates: String, folder: String) throws {
        self.folder = folder
        for _ in 0..<3 {
            let ports = (try LoopbackSocket.freePort(), try LoopbackSocket.freePort())
            try Self.layOut(changes, certificates: certificates, folder: folder, ports: ports)
            let process = try Self.start(folder)
            let isReady =
                try changes.isWell
                ? Self.answers(port: ports.0, certificates: certificates, process) : Self.listens(ports.0, process)
            if isReady {
                (port, plainPort) = ports
                self.process = process
                return
            }
            process.stop()
        }
        throw NotStarted(log: (try? String(contentsOfFile: "\(folder)/log/error.log", encoding: .utf8)) ?? "")
    }

    /// Ends it at once; calls that it carries are cut off.
    func stop() {
        process.stop()
    }

    private static func start(_ folder: String) throws -> ChildProcess {
        try ChildProcess(
            Program.nginx ?? "", ["-p", folder, "-c", "\(folder)/nginx.conf", "-e", "\(folder)/log/error.log"],
            output: "\(folder)/log/start.log", errors: "\(folder)/log/start.log")
    }

    /// The certificate proves that it is ours who answers.
    private static func answers(port: UInt16, certificates: String, _ process: ChildProcess) throws -> Bool {
        let transport = try CurlTransport(CurlOptions(timeout: .seconds(10), caFile: "\(certificates)/cert.pem"))
        defer { transport.close() }
        let question = Request(method: .get, authority: "localhost:\(port)", path: "/health")
        return Deadline.poll(seconds: 30) {
            process.exitStatus != nil || (try? transport.respond(to: question))?.status == .ok
        } && process.exitStatus == nil
    }

    private static func listens(_ port: UInt16, _ process: ChildProcess) -> Bool {
        let probe = ConnectionProbe(scheme: "http", authority: "localhost:\(port)")
        return Deadline.poll(seconds: 30) {
            process.exitStatus != nil || (try? probe.connect()) != nil
        } && process.exitStatus == nil
    }

    /// A certificate for `localhost`, its own authority, made by the function that `script/run` uses.
    static func makeCertificate(in folder: String) throws {
        let made = try Program.run(
            "/bin/bash",
            ["-e", "-c", #". "$1/script/nginx-layout" && make_certificate "$2""#, "tls", Program.root, folder])
        guard made.status == 0 else { throw NotStarted(log: made.errors) }
    }
}
