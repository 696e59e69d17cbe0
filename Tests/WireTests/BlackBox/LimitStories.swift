// SPDX-License-Identifier: Apache-2.0
import Curl
import DeviceAPI
import Foundation
import Glibc
import HTTP
import HTTPTypes
import JSON
import Support
import Testing

extension WireTests {
    /// What nginx counts, for whom, and how much it lets through.
    struct LimitStories {
        private static let realAddress = FrontDoor.Edit(
            file: "sites/site.conf", text: "server_tokens off;",
            replacement: """
                server_tokens off; set_real_ip_from 127.0.0.1; real_ip_header Test-Address;
                location = /network { default_type text/plain; return 200 $app_backend_network; }
                """)

        private func from(_ address: String) throws -> HTTPFields {
            [try #require(HTTPField.Name("Test-Address")): address]
        }

        /// Of one process: each counts for itself.
        @Test func `what a user has done counts over a reload, and the new limits do`() throws {
            let scratch = try ScratchFolder()
            func keys(_ limits: String) -> String {
                #""store": { "path": "\#(scratch.path("store"))" }, "limits": { \#(limits) }"#
            }
            let backend = try BackendProcess(
                "limited", in: scratch, isLimited: true, keys: keys(Self.threeLists))
            defer { backend.stop() }
            try DoorSite.run(before: backend.socket, in: scratch) { door in
                let site = LimitedSite(backend: backend, door: door)
                var reloads = 0
                func reload(_ limits: String) throws {
                    reloads += 1
                    try backend.configure(keys: keys(limits))
                    backend.signal(SIGHUP)
                    #expect(Deadline.poll(seconds: 60) { backend.reloads == reloads })
                }
                // A minute gives a call back. What took longer has proved nothing, and is tried again.
                var isInTime = false
                for _ in 1...5 where !isInTime {
                    let began = ContinuousClock.now
                    let (alice, bob) = (try site.addUser("alice"), try site.addUser("bob"))
                    var answers = [try site.lists(4, of: alice), try site.lists(1, of: bob)]
                    try reload(#""listsPerMinute": 1, "listsAtOnce": 5"#)
                    answers.append(try site.lists(3, of: alice))
                    try reload(#""listsPerMinute": 0"#)
                    answers.append(try site.lists(10, of: alice))
                    try reload(Self.threeLists)
                    answers.append(try site.lists(1, of: alice))
                    let refused = Problem(try site.call(.get, Path.register, as: alice))
                    isInTime = ContinuousClock.now - began < .seconds(50)
                    guard isInTime else { continue }
                    let passed = Array(repeating: 200, count: 10)
                    #expect(answers == [[200, 200, 200, 429], [200], [200, 200, 429], passed, [429]])
                    #expect(refused.code == .tooManyLists && refused.retryAfter ?? 0 > 60)
                }
                #expect(isInTime)
                #expect(!backend.log.contains("a restart is needed"))
                let numbers = String(decoding: try site.call(.get, Path.metrics).body, as: UTF8.self)
                #expect(numbers.contains(#"app_backend_user_limit_refusals_total{limit="lists"} "#))
                #expect(!numbers.contains(#"app_backend_user_limit_refusals_total{limit="lists"} 0"#))
            }
        }

        private static let threeLists = #""listsPerMinute": 1, "listsAtOnce": 3"#

        /// Every way in which the eight groups of an address may be zero or not, which decides how it is written.
        @Test func `an IPv6 address counts as its first four groups, wherever its zeros are`() throws {
            try DoorSite.run(changing: { $0.edits = [Self.realAddress] }) { site, _ throws in
                var networks: [[String]: Set<[UInt8]>] = [:]
                // The first group is never zero in an address that is in use.
                for pattern in 128..<256 {
                    let groups = (0..<8).map { pattern >> (7 - $0) & 1 == 1 ? String(0xA0F + $0 * 16, radix: 16) : "0" }
                    let answer = try site.call(.get, "/network", fields: from(groups.joined(separator: ":")))
                    #expect(answer.status == .ok && !answer.body.isEmpty)
                    networks[Array(groups.prefix(4)), default: []].insert(answer.body)
                }
                #expect(networks.count == 8 && networks.values.allSatisfy { $0.count == 1 })
                #expect(Set(networks.values).count == 8)
            }
        }

        @Test func `an IPv4 address counts for itself, in IPv6's clothes too`() throws {
            try DoorSite.run(changing: { $0.edits = [Self.realAddress] }) { site, _ throws in
                func network(_ address: String) throws -> [UInt8] {
                    try site.call(.get, "/network", fields: from(address)).body
                }
                let addresses = ["192.0.2.1", "192.0.2.2", "::ffff:192.0.2.1", "::ffff:192.0.2.2", "::1"]
                let networks = Set(try addresses.map(network))
                #expect(networks.count == addresses.count)
                #expect(try network("192.0.2.1") == [192, 0, 2, 1])
            }
        }

        @Test func `a client that used up a burst has to wait, with all addresses of its network, and no other`()
            throws
        {
            let small = [
                FrontDoor.Edit(
                    file: "conf.d/app-backend-upstream.conf", text: "zone=app_backend_calls:4m rate=20r/s",
                    replacement: "zone=app_backend_calls:4m rate=1r/m"),
                FrontDoor.Edit(file: "snippets/app-backend-api.conf", text: "burst=500", replacement: "burst=2"),
            ]
            try DoorSite.run(changing: {
                $0.callsPerSecond = nil
                $0.edits = small + [Self.realAddress]
            }) { site, _ throws in
                for number in 1...3 {
                    let path = [Path.register, Path.config, Path.notifications][number - 1]
                    #expect(try site.call(.get, path, fields: from("2001:db8::\(number)")).status == .ok)
                }
                // One more may call with every minute that is over.
                var refused = try site.call(.get, Path.register, fields: from("2001:db8:0:0:a:b:c:d"))
                for _ in 1...5 where refused.status == .ok {
                    refused = try site.call(.get, Path.register, fields: from("2001:db8:0:0:a:b:c:d"))
                }
                #expect(refused.status == .tooManyRequests && refused.fields[.retryAfter] == "2")
                #expect(refused.fields[.contentType] == Problem.contentType)
                #expect(try JSONValue(parsing: refused.body)["status"]?.integer == 429)
                for other in ["2001:db8:0:1::1", "192.0.2.1", "192.0.2.2"] {
                    #expect(try site.call(.get, Path.register, fields: from(other)).status == .ok, "\(other)")
                }
            }
        }

        /// A secure message to all of a company: their devices fetch it in the same second, from one address.
        @Test func `500 devices behind one address may call at once`() throws {
            try DoorSite.run(workers: 16, changing: { $0.callsPerSecond = nil }) { site, _ throws in
                let statuses = try site.burst(500, "/api/notifications/7")
                #expect(statuses == [200: 500])
            }
        }
    }
}

/// nginx and a responder that holds its users to limits.
private struct LimitedSite: ServedSite {
    let backend: BackendProcess
    let door: DoorSite
    let secrets = Secrets()

    var authority: String { door.authority }
    var transport: CurlTransport { door.transport }

    func run(_ arguments: [String], input: String) throws -> Program.Outcome {
        try Program.run(Program.appBackend, arguments + ["--config", backend.configuration], input: .text(input))
    }

    /// What so many lists of devices are answered, one after the other.
    func lists(_ count: Int, of user: WireUser) throws -> [Int] {
        try (1...count).map { _ in try call(.get, Path.register, as: user).status.code }
    }
}

extension BackendProcess {
    /// How often it has said that it read its configuration again.
    fileprivate var reloads: Int { log.components(separatedBy: "reloaded the configuration").count - 1 }
}
