// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Support

/// A push service that takes everything, and keeps a list of what it took: nginx, whose log is the list.
final class PushSink: Sendable {
    private let reserved: LoopbackPort
    private let scratch: ScratchFolder
    private let process = ServerProcess()

    /// Where no process listens until it is started.
    var port: UInt16 { reserved.number }

    init(certificates: String) throws {
        scratch = try ScratchFolder()
        reserved = try LoopbackPort()
        let port = reserved.number
        let path = scratch.path
        let temporary = ["client_body", "fastcgi", "proxy", "scgi", "uwsgi"]
            .map { "\($0)_temp_path \(path)/\($0);" }.joined(separator: " ")
        try scratch.write(
            """
            \(geteuid() == 0 ? "user root;" : "")
            daemon off; worker_processes 1; pid \(path)/pid; error_log \(path)/error.log;
            events { }
            http {
                \(temporary)
                log_format pushes '$request_uri';
                server {
                    listen 127.0.0.1:\(port) ssl;
                    ssl_certificate \(certificates)/cert.pem;
                    ssl_certificate_key \(certificates)/key.pem;
                    access_log \(path)/pushes.log pushes;
                    location / { return 201; }
                }
            }
            """, to: "nginx.conf")
    }

    func start() throws {
        let path = scratch.path
        try process.start {
            try ChildProcess(
                Program.nginx ?? "", ["-p", path, "-c", "\(path)/nginx.conf", "-e", "\(path)/error.log"],
                output: "\(path)/start.log", errors: "\(path)/start.log")
        } log: {
            (try? String(contentsOfFile: "\(path)/error.log", encoding: .utf8)) ?? ""
        } isReady: {
            LoopbackSocket.answers(port: port)
        }
    }

    func stop() { process.stop() }

    /// An endpoint that no other browser has.
    func makeEndpoint() -> String { "https://localhost:\(port)/\(UUID().uuidString)" }

    /// Whether so many pushes come for each of those endpoints, and no more. nginx notes one a moment after it has
    /// answered.
    func haveCome(_ expected: [String: Int]) -> Bool {
        _ = Deadline.poll(seconds: 240) { expected.allSatisfy { count($0) >= $1 } }
        return expected.allSatisfy { count($0) == $1 }
    }

    /// How many pushes came for that endpoint.
    func count(_ endpoint: String) -> Int {
        let log = (try? String(contentsOfFile: scratch.path("pushes.log"), encoding: .utf8)) ?? ""
        let path = "/" + (endpoint.split(separator: "/").last ?? "")
        return log.split(separator: "\n").count { $0 == path }
    }
}
