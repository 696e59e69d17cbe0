// SPDX-License-Identifier: Apache-2.0
import Curl
import Foundation
import Glibc
import HTTP
import Support

/// A private nginx on free loopback ports, with a certificate for `localhost` of its own making, in a temporary folder.
final class LocalServer: Sendable {
    let folder: URL
    private let ports: Ports
    /// Takes connections and never answers.
    private let silent: LoopbackListener
    private let process: ChildProcess

    /// The server's own certificate, which is its own authority.
    var certificate: String { folder.appending(path: "cert.pem").path }
    var authority: String { "localhost:\(tlsPort)" }
    var tlsPort: UInt16 { ports.tls.number }
    var plainPort: UInt16 { ports.plain.number }
    /// Speaks HTTP/2, and takes 32 requests at once. It closes a connection on which twice as many come at a time (nginx
    /// since CVE-2023-44487), and a client does not know its limit before it has sent the first of them.
    var narrowPort: UInt16 { ports.narrow.number }

    /// A line of each request for `/drop` and `/take`.
    var drops: [Substring] {
        let text = try? String(contentsOf: folder.appending(path: "drops.log"), encoding: .utf8)
        return (text ?? "").split(separator: "\n")
    }

    /// As `drops`, when there are as many at last: nginx writes its line when the answer may have arrived already.
    func drops(atLeast count: Int) -> [Substring] {
        Deadline.poll(seconds: Patience.seconds) { drops.count >= count }
        return drops
    }

    struct NotStarted: Error {}

    private struct Ports {
        let tls: LoopbackPort
        let plain: LoopbackPort
        let narrow: LoopbackPort
    }

    /// Runs `body` with a server, and ends the server whatever happens.
    static func run<Result>(_ body: (LocalServer) throws -> Result) throws -> Result {
        let server = try LocalServer()
        defer { server.stop() }
        return try body(server)
    }

    private init() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "curl-tests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        self.folder = folder
        do {
            try Self.run(
                "/usr/bin/openssl",
                [
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
                    "-keyout", folder.appending(path: "key.pem").path, "-out", folder.appending(path: "cert.pem").path,
                ])
            try Data(repeating: UInt8(ascii: "x"), count: 200_000).write(to: folder.appending(path: "large"))
            silent = try LoopbackListener()
            ports = Ports(tls: try LoopbackPort(), plain: try LoopbackPort(), narrow: try LoopbackPort())
            process = try Self.start(in: folder, ports, silent: silent.port)
        } catch {
            try? FileManager.default.removeItem(at: folder)
            throw error
        }
    }

    private func stop() {
        process.stop()
        try? FileManager.default.removeItem(at: folder)
    }

    /// nginx writes its number when it has bound all ports.
    private static func start(in folder: URL, _ ports: Ports, silent: UInt16) throws -> ChildProcess {
        try configuration(
            folder: folder.path, tls: ports.tls.number, plain: ports.plain.number, narrow: ports.narrow.number,
            silent: silent
        )
        .write(to: folder.appending(path: "nginx.conf"), atomically: true, encoding: .utf8)
        let process = try ChildProcess(
            "/usr/sbin/nginx", ["-p", folder.path, "-c", "nginx.conf", "-e", "error.log"])
        let number = folder.appending(path: "nginx.pid").path
        let isUp = Deadline.poll(seconds: Patience.seconds) {
            FileManager.default.fileExists(atPath: number) || process.exitStatus != nil
        }
        guard isUp, process.exitStatus == nil else {
            process.stop()
            throw NotStarted()
        }
        return process
    }

    private static func run(_ program: String, _ arguments: [String]) throws {
        guard try ChildProcess(program, arguments).wait(seconds: Patience.seconds) == 0 else { throw NotStarted() }
    }

    /// `/echo` answers the request's body: the outer server has read it to pass it on, and hands it over in a header.
    /// No limit of nginx's own is meant to be met but that of the narrow port: not its times, when a client stands still,
    /// nor how many requests it takes on a connection, or at a time (two for each stream).
    private static func configuration(folder: String, tls: UInt16, plain: UInt16, narrow: UInt16, silent: UInt16)
        -> String
    {
        """
        daemon off; master_process off; pid nginx.pid; worker_rlimit_nofile 4096;
        events { worker_connections 512; }
        http {
          access_log off; default_type text/plain; server_tokens off;
          http2_max_concurrent_streams 2048; keepalive_requests 1000000; keepalive_timeout 1h; send_timeout 1h;
          client_header_timeout 1h; client_body_timeout 1h; proxy_read_timeout 1h; proxy_send_timeout 1h;
          client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path f; uwsgi_temp_path u; scgi_temp_path s;
          server {
            listen 127.0.0.1:\(tls) ssl http2; server_name localhost;
            ssl_certificate cert.pem; ssl_certificate_key key.pem;
            location = /hello { add_header X-One 1; add_header X-Two "a b"; return 200 "hello"; }
            location = /protocol { return 200 "$server_protocol"; }
            location = /connection { return 200 "$connection"; }
            location = /seen { return 200 "$request_method $request_uri|$http_user_agent|$http_x_custom|$http_expect"; }
            location = /redirect { return 302 https://localhost:\(tls)/hello; }
            location = /nothing { return 204; }
            location = /hasty { return 201; }
            location = /drop { access_log drops.log; return 201; }
            location = /teapot { return 418 "short and stout"; }
            location = /silent { proxy_pass http://127.0.0.1:\(silent); }
            location = /large { root \(folder); }
            location = /echo {
              client_max_body_size 1m; client_body_buffer_size 64k;
              proxy_set_header X-Body $request_body; proxy_set_header X-Method $request_method;
              proxy_set_header X-Type $content_type; proxy_pass_request_body off; proxy_set_header Content-Length "";
              proxy_method GET; proxy_pass http://127.0.0.1:\(plain)/reflect;
            }
          }
          server {
            listen 127.0.0.1:\(plain);
            listen 127.0.0.1:\(narrow) ssl http2; http2_max_concurrent_streams 32;
            ssl_certificate cert.pem; ssl_certificate_key key.pem;
            large_client_header_buffers 4 64k;
            location = /hello { return 200 "plain"; }
            location = /drop { access_log drops.log; return 444; }
            location = /take { access_log drops.log; return 201; }
            location = /reflect { return 200 "$http_x_method|$http_x_type|$http_x_body"; }
          }
        }
        """
    }

    func options(
        timeout: Duration = Patience.duration, maximumResponseBytes: Int = 1 << 20, connections: Int = 4,
        maximumQueued: Int = 1024, addresses: AddressPolicy = .any
    ) -> CurlOptions {
        CurlOptions(
            timeout: timeout, connectTimeout: Patience.duration, caFile: certificate, addresses: addresses,
            maximumResponseBytes: maximumResponseBytes, maximumConnectionsPerHost: connections,
            maximumQueued: maximumQueued)
    }

    /// A request that is logged, to the server that takes few at once.
    func take() -> Request {
        Request(
            method: .post, scheme: "https", authority: "localhost:\(narrowPort)", path: "/take",
            body: [UInt8]("{}".utf8))
    }

    func get(_ path: String, query: String = "") -> Request {
        Request(method: .get, authority: authority, path: path, query: query)
    }
}
