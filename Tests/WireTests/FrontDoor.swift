// SPDX-License-Identifier: Apache-2.0
import Curl
import Foundation
import HTTP
import Support

/// A private nginx with the files that are shipped, laid out as `script/run` does it, on free loopback ports.
final class FrontDoor: Sendable {
    struct NotStarted: Error { let log: String }

    /// Everything of nginx's: files, logs, what it may have put down.
    let folder: String
    private let ports: (tls: LoopbackPort, plain: LoopbackPort)
    private let process: ChildProcess

    var port: UInt16 { ports.tls.number }
    /// Where the site's plain-text half answers.
    var plainPort: UInt16 { ports.plain.number }

    /// Starts it and waits until it answers for the responders behind it.
    init(_ changes: Changes, certificates: String, folder: String) throws {
        self.folder = folder
        ports = (try LoopbackPort(), try LoopbackPort())
        let port = ports.tls.number
        try Self.layOut(
            changes, certificates: certificates, folder: folder, ports: (tls: port, plain: ports.plain.number))
        process = try Self.start(folder)
        let isReady =
            try changes.isWell
            ? Self.answers(port: port, certificates: certificates, process) : Self.listens(port, process)
        guard isReady else {
            stop()
            throw NotStarted(log: (try? String(contentsOfFile: "\(folder)/log/error.log", encoding: .utf8)) ?? "")
        }
    }

    /// Ends it at once; calls that it carries are cut off. What it has answered is in its logs then.
    func stop() {
        process.stop(seconds: 60)
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
        return Deadline.poll(seconds: 90) {
            process.exitStatus != nil || (try? transport.respond(to: question))?.status == .ok
        } && process.exitStatus == nil
    }

    private static func listens(_ port: UInt16, _ process: ChildProcess) -> Bool {
        let probe = ConnectionProbe(scheme: "http", authority: "localhost:\(port)")
        return Deadline.poll(seconds: 90) {
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
