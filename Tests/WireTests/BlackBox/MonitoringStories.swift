// SPDX-License-Identifier: Apache-2.0
import Curl
import DeviceAPI
import Foundation
import HTTP
import HTTPTypes
import JSON
import Support
import Testing

extension WireTests {
    /// What a monitor on the host reads. Each has a site of its own, whose numbers no other test moves.
    struct MonitoringStories {
        @Test func `the numbers come through nginx, and are those of what happened`() async throws {
            try await WireSite.run { site in
                let alice = try site.addUser("alice")
                for _ in 1...3 { #expect(try site.call(.get, Path.register, as: alice).status == .ok) }
                let id = try site.register(alice, handle: site.makeHandle())
                _ = try site.sendSecure(site.secrets.make("kept "), from: alice, to: alice)
                let numbers = try Numbers(site.call(.get, Path.metrics))
                #expect(numbers[#"app_backend_requests_total{route="/api/register",method="GET",code="200"}"#] == 3)
                let put = #"app_backend_requests_total{route="/api/register/{id}",method="PUT",code="200"}"#
                #expect(numbers[put] == 1)
                #expect(numbers[#"app_backend_hub_calls_total{operation="send",result="201"}"#] == 4)
                #expect(numbers[#"app_backend_hub_call_duration_seconds_count{operation="send"}"#] == 4)
                #expect(numbers[#"app_backend_credential_cache_lookups_total{result="miss"}"#] == 1)
                #expect(numbers["app_backend_workers"] == 16)
                #expect(numbers["app_backend_workers_busy"] ?? 0 >= 1)
                #expect(numbers["app_backend_store_writable"] == 1)
                #expect(numbers["app_backend_store_free_bytes"].map { $0 > 0 } == true)
                #expect(numbers["app_backend_store_writes_total"] ?? 0 > 3)
                // The hub is elsewhere: its queue is its own affair.
                #expect(numbers["app_backend_hub_queue_messages"] == nil)
                #expect(!numbers.text.contains(alice.name) && !numbers.text.contains(id))

                let now = Date().timeIntervalSince1970
                let certificate = numbers["app_backend_hub_certificate_expiry_timestamp_seconds"] ?? 0
                #expect(certificate > now && certificate < now + 91 * 86_400)
                let signature = numbers["app_backend_hub_signature_expiry_timestamp_seconds"] ?? 0
                #expect(signature > now && signature < now + 3_700)
            }
        }

        @Test func `a hub that is down shows in the numbers`() async throws {
            try await WireSite.run { site in
                let alice = try site.addUser("alice")
                site.hubDoor.stop()
                #expect(try site.call(.post, Path.register, as: alice).status == .serviceUnavailable)
                let numbers = try Numbers(site.call(.get, Path.metrics))
                let calls = "app_backend_hub_calls_total{operation=\"create_registration_id\",result=\"unreachable\"}"
                // Once more, where it failed at once.
                #expect((1...2).contains(numbers[calls] ?? 0))
                #expect(numbers[#"app_backend_requests_total{route="/api/register",method="POST",code="503"}"#] == 1)
            }
        }

        @Test func `an unreadable line of the store shows, once`() async throws {
            try await WireSite.run { site in
                let alice = try site.addUser("alice")
                let users = try FileHandle(forWritingTo: URL(filePath: site.store + "/users.jsonl"))
                try users.seekToEnd()
                try users.write(contentsOf: Data("half a line\n".utf8))
                try users.close()
                for _ in 1...2 { #expect(try site.call(.get, Path.register, as: alice).status == .ok) }
                let numbers = try Numbers(site.call(.get, Path.metrics))
                #expect(numbers[#"app_backend_store_events_total{event="broken_line"}"#] == 1)
            }
        }

        @Test func `the built-in hub tells what waits in it`() async throws {
            try await WireSite.run { site in
                let numbers = try Numbers(
                    site.transport.respond(
                        to: Request(method: .get, authority: site.hubAuthority, path: Path.metrics)))
                #expect(numbers["app_backend_hub_queue_messages"] == 0)
                #expect(numbers["app_backend_hub_queue_oldest_age_seconds"] == 0)
                #expect(numbers["app_backend_hub_certificate_expiry_timestamp_seconds"] == nil)
            }
        }

        @Test func `a reload that was refused shows until one is taken, and no number starts again`() async throws {
            try await WireSite.run { site in
                let alice = try site.addUser("alice")
                _ = try site.call(.get, Path.register, as: alice)
                let right = try String(contentsOfFile: site.backend.configuration, encoding: .utf8)
                func reload(_ text: String, successful: Double) throws {
                    try text.write(toFile: site.backend.configuration, atomically: true, encoding: .utf8)
                    site.backend.signal(SIGHUP)
                    #expect(
                        try Deadline.poll(seconds: 60) {
                            let numbers = try Numbers(site.call(.get, Path.metrics))
                            return numbers["app_backend_last_reload_successful"] == successful
                        })
                }
                try reload("{ \"workers\": 0 }", successful: 0)
                try reload(right, successful: 1)
                _ = try site.call(.get, Path.register, as: alice)
                let numbers = try Numbers(site.call(.get, Path.metrics))
                #expect(numbers[#"app_backend_requests_total{route="/api/register",method="GET",code="200"}"#] == 2)
            }
        }

        /// The server that the documentation shows, on a socket instead of the port, which may be in use.
        private static func documentedServer(on socket: String) throws -> FrontDoor.Edit {
            let page = try String(contentsOfFile: Program.root + "/docs/operate/monitor.md", encoding: .utf8)
            let block = try #require(page.firstMatch(of: /```nginx\n((?:.|\n)*?)```/)).1
            let listen = /listen +127\.0\.0\.1:[0-9]+;/
            #expect(block.contains(listen))
            let map = "map $request_method $app_backend_upstream {"
            return FrontDoor.Edit(
                file: "conf.d/app-backend-upstream.conf", text: map,
                replacement: block.replacing(listen, with: "listen unix:\(socket);") + "\n" + map)
        }

        @Test func `a server for Prometheus alone, as documented, answers it and nothing else`() async throws {
            let folder = try ScratchFolder()
            let socket = folder.path("metrics.sock")
            try await WireSite.run(WireSite.Options(edits: [Self.documentedServer(on: socket)])) { site in
                let answer = try curl(socket, Path.metrics)
                #expect(answer.status == 200 && answer.body.contains("# TYPE app_backend_requests_total counter\n"))
                for path in [Path.register, Path.health, "/"] { #expect(try curl(socket, path).status == 404) }
            }
        }

        private func curl(_ socket: String, _ path: String) throws -> (status: Int, body: String) {
            let outcome = try Program.run(
                "/usr/bin/curl",
                ["--silent", "--unix-socket", socket, "--write-out", "\n%{http_code}", "http://localhost\(path)"])
            let parts = outcome.output.split(separator: "\n", omittingEmptySubsequences: false)
            return (Int(parts.last ?? "") ?? 0, parts.dropLast().joined(separator: "\n"))
        }

        @Test func `where the web server lets everybody ask, the responder does not`() async throws {
            let edits = [
                FrontDoor.Edit(
                    file: "sites/site.conf", text: "server_tokens off;",
                    replacement: "server_tokens off; set_real_ip_from 127.0.0.1; real_ip_header Test-Address;"),
                FrontDoor.Edit(
                    file: "snippets/app-backend-monitor.conf", text: "deny  all;", replacement: "allow all;"),
            ]
            let name = try #require(HTTPField.Name("Test-Address"))
            try await WireSite.run(WireSite.Options(edits: edits)) { site in
                let callers: [(String, HTTPResponse.Status)] = [
                    ("127.0.0.1", .ok), ("::1", .ok), ("192.0.2.7", .notFound), ("2001:db8::7", .notFound),
                ]
                for (address, expected) in callers {
                    for path in [Path.metrics, Path.health] {
                        let answer = try site.call(.get, path, fields: [name: address])
                        #expect(answer.status == expected, "\(path) \(address)")
                    }
                }
            }
        }

        @Test func `nginx lets no other address ask for the numbers`() throws {
            let site = try sharedSite()
            #expect(try site.call(.get, Path.metrics).status == .ok)
            #expect(try site.call(.post, Path.metrics).status == .methodNotAllowed)
            let snippet = try String(
                contentsOfFile: "\(site.door.folder)/snippets/app-backend-monitor.conf", encoding: .utf8)
            for path in [Path.health, Path.metrics] {
                let location = try #require(snippet.firstRange(of: "location = \(path) {"))
                let block = snippet[location.upperBound...].prefix { $0 != "}" }
                #expect(block.contains("allow 127.0.0.1;") && block.contains("deny  all;"), "\(path)")
            }
        }
    }
}

/// One scrape.
private struct Numbers {
    struct NotANumber: Error { let line: String }

    let text: String
    private var values: [String: Double] = [:]

    init(_ answer: Response) throws {
        #expect(answer.status == .ok)
        #expect(answer.fields[.contentType] == "text/plain; version=0.0.4; charset=utf-8")
        text = String(decoding: answer.body, as: UTF8.self)
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            guard let blank = line.lastIndex(of: " "), let value = Double(line[line.index(after: blank)...]) else {
                throw NotANumber(line: String(line))
            }
            values[String(line[..<blank])] = value
        }
    }

    /// nil when there is no such series.
    subscript(_ series: String) -> Double? { values[series] }
}
