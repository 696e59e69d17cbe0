// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import Foundation
import Glibc
import HTTP
import HTTPTypes
import JSON
import Support
import Testing

extension WireTests {
    /// What an operator reads, and how one request is found in all logs.
    struct LogStories {
        /// One line of nginx's access log.
        private struct Access {
            let id: String
            let method: String
            let path: String
            let status: Int
        }

        private func accesses(_ site: WireSite) throws -> [Access] {
            let text = try String(contentsOfFile: "\(site.door.folder)/log/app-backend.log", encoding: .utf8)
            // What follows the last line's end is a line that is being written.
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            return try lines.map { line in
                let json = try JSONValue(parsing: Array(line.utf8))
                return Access(
                    id: json["id"]?.string ?? "", method: json["method"]?.string ?? "",
                    path: json["path"]?.string ?? "", status: json["status"]?.integer ?? 0)
            }
        }

        /// nginx writes its line when the client has the answer already.
        private func access(_ site: WireSite, _ method: HTTPRequest.Method, _ path: String) throws -> Access {
            var found: Access?
            _ = try Deadline.poll(seconds: 60) {
                found = try accesses(site).last { $0.method == method.rawValue && $0.path == path }
                return found != nil
            }
            return try #require(found)
        }

        private func lines(_ process: BackendProcess, with text: String) -> [Substring] {
            process.log.split(separator: "\n").filter { $0.contains(text) }
        }

        @Test func `the filter of the page for fail2ban finds failed log-ins, and their addresses`() throws {
            let page = try String(contentsOfFile: "\(Program.root)/docs/operate/monitor.md", encoding: .utf8)
            let filter = try #require(page.firstMatch(of: /\nfailregex = (.+)\n/)?.1)
            let expression = try Regex(
                String(filter.replacing("<ADDR>", with: "([0-9a-f.:]+)")), as: (Substring, Substring).self)
            let site = try sharedSite()
            let alice = try site.addUser("alice")
            let wrong = WireUser(name: alice.name, password: site.secrets.make("wrong-"))
            #expect(try site.call(.get, Path.register, as: wrong).status == .unauthorized)
            // As the journal has it, without the time.
            let journal = site.backend.log.split(separator: "\n").map {
                $0.replacing(#/^notice: /#, with: "push app-backend[7]: ")
            }
            let lines = journal.filter { $0.contains("user=\(alice.name)") }
            #expect(lines.count == 1 && lines.compactMap { $0.firstMatch(of: expression)?.output.1 } == ["127.0.0.1"])
            #expect(journal.compactMap { $0.firstMatch(of: expression) }.count < journal.count)
        }

        @Test func `one id leads from nginx's log through ours to what the hub was asked`() async throws {
            try await WireSite.run { site in
                let alice = try site.addUser("alice")
                let handle = site.makeHandle()
                let id = try site.register(alice, handle: handle)
                let send = try site.call(
                    .post, Path.notifications, query: "pns=apns&to_tag=\(alice.name)", as: alice, body: "\"hello\"")
                #expect(send.status == .ok)
                let isSent = try access(site, .post, Path.notifications)
                _ = try site.sendSecure(site.secrets.make("kept "), from: alice, to: alice)
                #expect(try site.call(.delete, "\(Path.register)/\(id)", as: alice).status == .ok)

                let isSecure = try access(site, .post, Path.notifications)
                #expect(isSecure.id != isSent.id)
                for (call, operations) in [
                    (try access(site, .post, Path.register), ["POST /{hub}/registrationids"]),
                    (try access(site, .put, "\(Path.register)/\(id)"), ["PUT /{hub}/registrations/{id}"]),
                    (isSent, ["POST /{hub}/messages"]),
                    (isSecure, Array(repeating: "POST /{hub}/messages", count: 4)),
                    (try access(site, .delete, "\(Path.register)/\(id)"), ["DELETE /{hub}/registrations/{id}"]),
                ] {
                    #expect(call.id.utf8.count == 32)
                    let ours = lines(site.backend, with: "request=\(call.id)")
                    #expect(ours.count == 1, "\(call.method) \(call.path)")
                    #expect(ours.allSatisfy { $0.contains("status=\(call.status)") })
                    let heard = lines(site.hub, with: "tracking=\(call.id)").map { line in
                        "\(value(of: "method", in: line)) \(value(of: "route", in: line))"
                    }
                    for operation in operations { #expect(heard.contains(operation), "\(call.method) \(heard)") }
                    if operations.count > 1 { #expect(heard == operations) }
                }
            }
        }

        private func value(of key: String, in line: Substring) -> Substring {
            line.split(separator: " ").first { $0.hasPrefix(key + "=") }?.dropFirst(key.utf8.count + 1) ?? ""
        }

        @Test func `trouble with the hub is logged under the id that nginx logged`() async throws {
            try await WireSite.run { site in
                let alice = try site.addUser("alice")
                site.hubDoor.stop()
                _ = try site.call(.post, Path.register, as: alice)
                _ = try site.call(
                    .post, Path.notifications, query: "pns=apns&to_tag=\(alice.name)", as: alice, body: "\"hello\"")
                for path in [Path.register, Path.notifications] {
                    let call = try access(site, .post, path)
                    #expect(call.status == 503)
                    let warnings = lines(site.backend, with: "request=\(call.id)").filter { $0.hasPrefix("warning: ") }
                    #expect(warnings.count == 1 && warnings.allSatisfy { $0.contains("hub: no answer: ") }, "\(path)")
                }
            }
        }

        @Test func `a client cannot choose its id`() throws {
            let site = try sharedSite()
            let mark = "mark\(UInt32.random(in: .min ... .max))"
            for name in ["Request-Id", "X-Request-Id", "TrackingId"] {
                _ = try site.call(.get, Path.register, fields: [try #require(HTTPField.Name(name)): mark])
            }
            #expect(!site.backend.log.contains(mark))
        }

        // MARK: The form of a line

        /// Starts a responder that cannot listen, with what a stranger would like to see in a log in its path.
        /// - Parameter stream: makes `JOURNAL_STREAM` of the status of standard error.
        /// - Returns: its standard error.
        private func complaint(_ stream: (stat) -> String?) throws -> String {
            let folder = try ScratchFolder()
            let errors = try folder.write("", to: "errors")
            let socket = "\(folder.path)/no\n<0>forged\r\u{1B}[31m\u{7F}\u{9B}31m/such.sock"
            var json = JSONWriter()
            json.object { json in
                json.member("listen", socket)
                json.name("store")
                json.object { $0.member("path", folder.path("store")) }
            }
            try folder.write(String(decoding: json.bytes, as: UTF8.self), to: "configuration.json")
            var status = stat()
            #expect(stat(errors, &status) == 0)
            let environment = stream(status).map { ["JOURNAL_STREAM=\($0)"] } ?? []
            let process = try ChildProcess(
                Program.appBackend, ["serve", "--config", folder.path("configuration.json")],
                environment: environment, errors: errors)
            defer { process.stop(seconds: 0) }
            #expect(process.wait(seconds: 60) == 1)
            return try String(contentsOfFile: errors, encoding: .utf8)
        }

        private func expectOneLine(_ text: String) {
            #expect(text.hasSuffix("\n") && text.dropLast().contains("no?<0>forged??[31m"))
            #expect(text.unicodeScalars.dropLast().allSatisfy { $0.properties.generalCategory != .control })
        }

        @Test func `to the journal a line says its priority, and nothing in it begins another`() throws {
            let text = try complaint { "\($0.st_dev):\($0.st_ino)" }
            #expect(text.hasPrefix("<2>ended: "))
            expectOneLine(text)
        }

        @Test func `to anything else a line says its level in a word`() throws {
            // Also where the variable was inherited and standard error is another file by now.
            for stream: (stat) -> String? in [{ _ in nil }, { "\($0.st_dev):\($0.st_ino &+ 1)" }, { _ in "nonsense" }] {
                let text = try complaint(stream)
                #expect(text.hasPrefix("critical: ended: "))
                expectOneLine(text)
            }
        }
    }
}
