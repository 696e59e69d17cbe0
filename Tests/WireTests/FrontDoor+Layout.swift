// SPDX-License-Identifier: Apache-2.0
import Foundation

extension FrontDoor {
    /// Whose server the shipped files are in.
    enum Layout {
        /// The whole site that is shipped.
        case site
        /// Debian's default server as its package has it, with Debian's own TLS lines uncommented and one line of ours.
        case debianDefault

        fileprivate var function: String { self == .site ? "lay_out_nginx" : "lay_out_debian_nginx" }
        /// What the function leaves, and where nginx looks for it.
        fileprivate var files: (made: String, included: String) {
            self == .site ? ("site.conf", "sites/site.conf") : ("default", "sites-enabled/default")
        }
    }

    /// A text in one of the files, as they are installed, and what replaces it.
    struct Edit: Sendable {
        let file: String
        let text: String
        let replacement: String

        /// A connection to the responder that is idle is still there, however late a test's next call is.
        static let keptForLong = Edit(
            file: "conf.d/app-backend-upstream.conf", text: "keepalive_timeout 60s;",
            replacement: "keepalive_timeout 600s;")
    }

    /// What a test changes about the shipped files.
    struct Changes {
        var layout = Layout.site
        /// Also includes `app-backend-hub.conf`.
        var servesHub = false
        /// The responders behind the one upstream.
        var sockets: [String]
        /// Calls per second and network, the tests being all one network; nil: as shipped.
        var callsPerSecond: Int? = 100_000
        /// Processes of nginx's. Of several each has a queue of its own, over which the kernel spreads connections.
        var processes = 1
        var edits: [Edit] = []
        /// Whether `/health` will answer, with a certificate that is good.
        var isWell = true
    }

    /// The file has no such text, so that the edit would change nothing.
    struct NothingToEdit: Error { let edit: Edit }

    static func layOut(
        _ changes: Changes, certificates: String, folder: String, ports: (tls: UInt16, plain: UInt16)
    ) throws {
        let script = #". "$1/script/nginx-layout" && "$5" "$1/nginx" "$2" "$3" "$4/cert.pem" "$4/key.pem""#
        let socket = changes.sockets.first ?? ""
        let made = try Program.run(
            "/bin/bash",
            [
                "-e", "-c", script, "layout", Program.root, folder, socket, certificates, changes.layout.function,
            ], environment: ["NGINX_PROGRAM=\(Program.nginx ?? "")"])
        guard made.status == 0 else { throw NotStarted(log: made.errors) }
        try edit("\(folder)/nginx.conf") {
            $0.replacing(#/worker_processes +\w+;/#, with: "worker_processes \(changes.processes);")
                .replacing(
                    "http {",
                    // A connection that nginx ends after so many requests, while a client sends the next one, is another story's.
                    with: "http { keepalive_requests 1000000; lingering_time 300s; lingering_timeout 300s;")
        }
        try edit("\(folder)/snippets/app-backend-params.conf", patiently)
        try edit("\(folder)/conf.d/app-backend-upstream.conf") { text in
            let servers = changes.sockets.map { "server unix:\($0);" }.joined(separator: " ")
            let text = text.replacing("server unix:\(socket);", with: servers)
            guard let rate = changes.callsPerSecond else { return text }
            return text.replacing(#/rate=\d+r/s/#, with: "rate=\(rate)r/s")
        }
        try edit("\(folder)/snippets/app-backend-hub.conf") {
            $0.replacing("^/app-backend", with: "^/\(WireSite.hubName)")
        }
        try layOutServer(changes, folder: folder, ports: ports)
        for change in changes.edits {
            try edit("\(folder)/\(change.file)") { text in
                guard text.contains(change.text) else { throw NothingToEdit(edit: change) }
                return text.replacing(change.text, with: change.replacement)
            }
        }
    }

    /// What nginx does not wait for any longer is slow by intent, where it is at work. Here everybody is slow, a client
    /// that makes hundreds of connections at once above all. How long it waits for an answer stays as it is.
    private static func patiently(_ text: String) -> String {
        text.replacing(#/(client_header_timeout|client_body_timeout|fastcgi_send_timeout) +\d+s;/#) {
            "\($0.1) 300s;"
        }
    }

    private static func layOutServer(
        _ changes: Changes, folder: String, ports: (tls: UInt16, plain: UInt16)
    ) throws {
        let files = changes.layout.files
        try edit("\(folder)/\(files.made)", as: "\(folder)/\(files.included)") { text in
            let api = "include snippets/app-backend.conf;"
            return patiently(text).replacing(#/listen\s+\[::\][^;]*;/#, with: "")
                .replacing(#/listen\s+80\b/#, with: "listen 127.0.0.1:\(ports.plain)")
                .replacing(
                    #/listen\s+443\b/#,
                    with: "listen 127.0.0.1:\(ports.tls)\(changes.processes > 1 ? " reuseport" : "")"
                )
                .replacing("server_name push.example.com;", with: "server_name localhost;")
                .replacing(api, with: changes.servesHub ? "\(api) include snippets/app-backend-hub.conf;" : api)
        }
    }

    private static func edit(
        _ path: String, as target: String? = nil, _ change: (String) throws -> String
    ) throws {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try change(text).write(toFile: target ?? path, atomically: true, encoding: .utf8)
    }
}
