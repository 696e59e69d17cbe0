// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import Foundation
import Glibc
import HTTP
import HTTPTypes
import Support
import Synchronization
import Testing

extension HostingTests {
    /// What only Apache and mod_fcgid do.
    @Suite(
        .serialized, .enabled(if: HostingKind.installed.contains(.apache), "Apache with mod_fcgid is not installed"))
    struct ApacheStories {
        @Test func `with CGIPassAuth in place of the rule the password arrives as well`() async throws {
            try await HostedSite.run {
                try Apache($0, habits: .generous)
            } change: { home in
                try home.ship("htaccess", to: "public_html/.htaccess", mode: 0o644) { text in
                    let rule = "E=HTTP_AUTHORIZATION:%{HTTP:Authorization},"
                    try #require(text.contains(rule))
                    return text.replacing(rule, with: "") + "CGIPassAuth On\n"
                }
            } _: { site in
                let alice = try site.addUser("alice")
                #expect(try site.call(.get, Path.register).status == .unauthorized)
                #expect(try site.call(.get, Path.register, as: alice).status == .ok)
            }
        }

        @Test func `a link in place of the script does as well`() async throws {
            try await HostedSite.run(HostingKind.apache.makeServer) { home in
                #expect(unlink(home.web + "/app-backend.fcgi") == 0)
                #expect(symlink("../app-backend/app-backend", home.web + "/app-backend.fcgi") == 0)
            } _: { site in
                let alice = try site.addUser("alice")
                #expect(try site.call(.get, Path.register, as: alice).status == .ok)
                #expect(access(site.home.folder + "/store/store.json", F_OK) == 0)
            }
        }

        @Test func `processes that end every second lose nothing`() async throws {
            try await HostedSite.run {
                try Apache($0, habits: .restless)
            } _: { site in
                let load = WriteLoad(site, users: [try site.importUser("alice"), try site.importUser("bob")])
                let first = Deadline.poll(seconds: 60) {
                    _ = try? site.call(.get, Path.config)
                    return !site.home.processes.isEmpty
                }
                #expect(first)
                let before = Set(site.home.processes)
                load.run(threads: 4, processes: 1) { before.isDisjoint(with: site.home.processes) }
                #expect(before.isDisjoint(with: site.home.processes), "no process has ended")
                // No more requests come, and mod_fcgid ends the last one.
                #expect(Deadline.poll(seconds: 60) { site.home.processes.isEmpty })
                try load.expectAll()
            }
        }

        @Test func `a graceful restart under load loses nothing that was acknowledged`() async throws {
            // A call that waits for a process in the moment of the restart waits for a minute: mod_fcgid's old half asks
            // one that has ended.
            try await HostedSite.run(HostingKind.apache.makeServer, timeout: .seconds(20)) { site in
                let apache = try #require(site.server as? Apache)
                let load = WriteLoad(site, users: [try site.importUser("alice"), try site.importUser("bob")])
                let isDone = Flag()
                let wait = start(1) { _ in
                    load.run(threads: 4, processes: 1, toleratesFailure: true) { isDone.isSet }
                }
                for _ in 1...2 {
                    #expect(load.isCarried())
                    let before = Set(site.home.processes)
                    #expect(apache.restartGracefully())
                    #expect(Deadline.poll(seconds: 60) { before.isDisjoint(with: site.home.processes) })
                }
                isDone.set()
                _ = wait()
                try load.expectAll()
            }
        }

        @Test(arguments: [100_000, 200_000, 2_000_000])
        func `a body that Apache refuses is no empty message`(bytes: Int) async throws {
            try await HostedSite.run(HostingKind.apache.makeServer) { site in
                let alice = try site.addUser("alice")
                let body = "\"" + String(repeating: "x", count: bytes) + "\""
                try site.home.write(body, to: "body")
                let answer = try Program.run(
                    "/usr/bin/curl",
                    [
                        "--silent", "--cacert", site.home.certificates + "/cert.pem", "--header", "Expect:", "--header",
                        "Content-Type: application/json", "--header", "Authorization: \(alice.authorization)",
                        "--data-binary", "@-", "--write-out", " %{http_code}",
                        "https://\(site.authority)\(Path.notifications)",
                    ], input: .file(site.home.path + "/body"))
                #expect(answer.output.hasSuffix(" 413"))
                #expect(try site.call(.get, Path.notifications, as: alice).body == Array("[]".utf8))
            }
        }

        @Test func `without TLS the page leads to TLS, and the API is shut`() async throws {
            try await HostedSite.run(HostingKind.apache.makeServer) { site in
                let apache = try #require(site.server as? Apache)
                func plain(_ path: String) throws -> Response {
                    try site.transport.respond(
                        to: Request(
                            method: .get, scheme: "http", authority: "localhost:\(apache.plainPort)", path: path))
                }
                #expect(try plain(Path.register).status == .forbidden)
                let page = try plain("/")
                #expect(page.status == .movedPermanently)
                #expect(page.fields[.location] == "https://localhost:\(apache.plainPort)/")
                // A process must have run, for the logs to be searched.
                #expect(try site.call(.get, Path.config).status == .ok)
            }
        }
    }
}

/// Set once.
final class Flag: Sendable {
    private let value = Atomic(false)

    var isSet: Bool { value.load(ordering: .acquiring) }

    func set() { value.store(true, ordering: .releasing) }
}
