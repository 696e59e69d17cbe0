// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import Foundation
import Glibc
import HTTP
import HTTPTypes
import JSON
import Support
import Synchronization
import Testing

/// The product below a user's home directory, behind the web servers of shared hosts: no root, no systemd.
@Suite(.serialized)
struct HostingTests {
    @Test(
        .enabled(
            if: HostingKind.missing.isEmpty && Program.nginx != nil,
            "not installed: \(HostingKind.missing.joined(separator: ", ")); script/packages test hosting installs it"))
    func `every server is here that the product is shown behind`() {
        #expect(HostingKind.installed == HostingKind.allCases)
    }

    /// The same behind each of them. Each story has a site of its own.
    @Suite(.serialized)
    struct Everywhere {
        @Test(arguments: HostingKind.installed)
        func `a device registers, hears of a message, and its user alone reads a secret`(_ kind: HostingKind)
            async throws
        {
            try await HostedSite.run(kind.makeServer) { site in
                try site.pushes.start()
                let (alice, bob) = (try site.addUser("alice"), try site.addUser("bob"))
                let endpoint = try site.registerBrowser(alice)
                let handle = site.makeHandle()
                try await site.device(of: alice).registration.register(handle: handle, platform: .apns)
                try site.push(site.secrets.make("hello "), from: bob, to: alice)
                #expect(site.pushes.haveCome([endpoint: 1]))

                let text = site.secrets.make("the launch code ")
                let id = try site.sendSecure(text, from: bob, to: alice)
                #expect(try site.readSecure(id, as: alice) == text)
                #expect(try site.readSecure(id, as: bob) == nil)
                let twice = try (1...2).map { _ in try site.sendKeyed("\"\(text)\"", from: bob, to: alice, key: "k") }
                #expect(twice.map(\.status) == [.ok, .ok] && twice[0].body == twice[1].body)
                #expect(twice.map { $0.fields[.idempotencyReplayed] } == [nil, "true"])
                let list = try JSONValue(parsing: site.call(.get, Path.register, as: alice).body).array
                #expect(Set(list?.compactMap { $0["Platform"]?.string } ?? []) == ["apns", "browser"])
                let key = try site.appToken(of: alice, scopes: "send")
                let request = #"{"text":"\#(site.secrets.make("hello "))"}"#
                #expect(try site.call(.post, Path.requests, body: request, fields: key).status == .ok)
                // Hello, two secrets, and the request; the keyed one came once.
                #expect(site.pushes.haveCome([endpoint: 4]))
            }
        }

        @Test(arguments: HostingKind.installed)
        func `a page logs in, and its cookie is enough`(_ kind: HostingKind) async throws {
            try await HostedSite.run(kind.makeServer) { site in
                let alice = try site.addUser("alice")
                let page = WirePage(site)
                let answer = try page.logIn(alice)
                #expect(answer.status == .ok)
                #expect(answer.fields[.setCookie]?.contains("__Host-app_backend=") == true)
                #expect(answer.fields[.setCookie]?.contains("; Path=/; ") == true)
                #expect(try page.call(.get, Path.register).status == .ok)
                #expect(try page.call(.post, Path.register).status == .ok)
                // Another site's page has the browser's cookie as well, and may do nothing with it.
                let theirs = HTTPFields([
                    "Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example",
                    "Cookie": try #require(page.cookie),
                ])
                #expect(try site.call(.post, Path.register, fields: theirs).status == .forbidden)
                #expect(try page.call(.delete, Path.session).status == .ok)
                #expect(try page.call(.get, Path.register).status == .unauthorized)
            }
        }

        @Test(arguments: HostingKind.installed)
        func `nothing is lost that was acknowledged while several processes wrote at once`(_ kind: HostingKind)
            async throws
        {
            try await HostedSite.run(kind.makeServer) { site in
                let users = try (1...4).map { try site.importUser("user\($0)") }
                let load = WriteLoad(site, users: users)
                load.run(threads: 8, processes: 4)
                #expect(load.writers >= 4, "\(load.writers) processes wrote")
                try load.expectAll()
                // Processes that remember nothing find it as well.
                site.server.stop()
                #expect(Deadline.poll(seconds: 60) { site.home.processes.isEmpty })
                try site.server.start()
                try load.expectAll()
            }
        }

        @Test(arguments: HostingKind.installed)
        func `when the server stops, every process ends by itself`(_ kind: HostingKind) async throws {
            try await HostedSite.run(kind.makeServer) { site in
                let alice = try site.importUser("alice")
                // Once, and again where the server has killed one that did not end at once on a machine that is busy.
                var killed: [Int] = []
                repeat {
                    if !killed.isEmpty { try site.server.start() }
                    let answers = together(6) { _ in try site.call(.get, Path.register, as: alice).status }
                    #expect(answers.count == 6 && answers.allSatisfy { $0 == .ok })
                    #expect(!site.home.processes.isEmpty)
                    site.server.stop()
                    #expect(Deadline.poll(seconds: 60) { site.home.processes.isEmpty })
                    killed.append(site.server.killed)
                } while killed.count < 5 && killed.last != killed.dropLast().last ?? 0
                #expect(killed.last == killed.dropLast().last ?? 0, "\(killed)")
                // Each of the others has had the time to say so.
                let lines = site.home.logs().values.joined().split(separator: "\n")
                let begun = lines.count { $0.contains("listens on standard input") }
                let stopped = lines.count { $0 == "notice: stopped" }
                #expect(begun - (killed.last ?? 0)...begun ~= stopped)
            }
        }

        @Test(arguments: HostingKind.installed)
        func `what a process could not deliver another one does`(_ kind: HostingKind) async throws {
            try await HostedSite.run(kind.makeServer) { site in
                let alice = try site.addUser("alice")
                let endpoints = try (1...3).map { _ in try site.registerBrowser(alice) }
                // The push service cannot be reached, so the message waits in the store's queue.
                try site.push(site.secrets.make("later "), from: alice, to: alice)
                let first = site.home.processes
                #expect(!first.isEmpty)
                // What mod_fcgid does to a process that was idle for too long.
                for id in first { kill(id, SIGTERM) }
                #expect(Deadline.poll(seconds: 60) { Set(site.home.processes).isDisjoint(with: first) })
                #expect(endpoints.allSatisfy { site.pushes.count($0) == 0 })

                try site.pushes.start()
                // mod_fcgid starts a process for a request, whatever it is for; the others have one without.
                #expect(try site.call(.get, Path.config).status == .ok)
                #expect(site.pushes.haveCome(Dictionary(uniqueKeysWithValues: endpoints.map { ($0, 1) })))
            }
        }

        @Test(arguments: HostingKind.installed)
        func `no answer of the API is compressed, for its length would tell what is in it`(
            _ kind: HostingKind
        ) async throws {
            try await HostedSite.run(kind.makeServer) { site in
                let alice = try site.addUser("alice")
                for path in [Path.config, Path.register, Path.notifications] {
                    let answer = try site.call(.get, path, as: alice, fields: [.acceptEncoding: "gzip, br"])
                    #expect(answer.status == .ok && answer.fields[.contentEncoding] == nil, "\(path)")
                }
            }
        }

        @Test(arguments: HostingKind.installed)
        func `the program's refusals reach the client as they are`(_ kind: HostingKind) async throws {
            try await HostedSite.run(kind.makeServer) { site in
                let alice = try site.addUser("alice")
                let long = "\"" + String(repeating: "x", count: 70_000) + "\""
                let answers = [
                    try site.call(.get, Path.register), try site.call(.get, "/api/nothing", as: alice),
                    try site.call(.patch, Path.register, as: alice),
                    try site.call(.post, Path.notifications, as: alice, body: long),
                ]
                #expect(answers.map(\.status.code) == [401, 404, 405, 413])
                for answer in answers {
                    #expect(answer.fields[.contentType] == Problem.contentType)
                    #expect(try JSONValue(parsing: answer.body)["status"]?.integer == answer.status.code)
                }
                #expect(answers[0].fields[.wwwAuthenticate]?.hasPrefix("Basic ") == true)
                #expect(answers[2].fields[.allow] != nil)
                #expect(try site.call(.get, Path.notifications, as: alice).body == Array("[]".utf8))
                let text = String(repeating: "x", count: 65_534)
                #expect(try site.readSecure(site.sendSecure(text, from: alice, to: alice), as: alice) == text)
            }
        }
    }
}
