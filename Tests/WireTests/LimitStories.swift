// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import Foundation
import HTTP
import HTTPTypes
import JSON
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

        /// Every way in which the eight groups of an address may be zero or not, which decides how it is written.
        @Test func `an IPv6 address counts as its first four groups, wherever its zeros are`() throws {
            try DoorSite.run(changing: { $0.edits = [Self.realAddress] }) { site, _ throws in
                var networks: [[String]: Set<[UInt8]>] = [:]
                // The first group is never zero in an address that somebody has.
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

        @Test func `who has used up a burst is asked to wait, with all addresses of his network, and nobody else`()
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
