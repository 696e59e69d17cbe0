// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import Foundation
import Glibc
import HTTPTypes
import JSON
import NotificationHub
import Support
import Testing

extension WireTests {
    /// `device`, beside a server that is running.
    struct DeviceCommandStories {
        @Test func `a user's devices are listed, without handles, and one is removed`() throws {
            let site = try sharedSite()
            let (alice, bob) = (try site.addUser("alice"), try site.addUser("bob"))
            #expect(try site.run("device", "list", alice.name).output.isEmpty)
            let handles = [site.makeHandle(), site.makeHandle()]
            let ids = try handles.map { try site.register(alice, handle: $0) }
            // An id that was handed out is no device yet.
            #expect(try site.call(.post, Path.register, as: alice).status == .ok)
            let list = try site.run("device", "list", alice.name)
            let lines = list.output.split(separator: "\n")
            #expect(list.status == 0 && lines.count == 2)
            for (id, handle) in zip(ids, handles) {
                // Ids are of different lengths, so the columns have different widths.
                let columns = lines.map { $0.split(separator: " ") }.first { $0.first.map(String.init) == id }
                #expect(columns?.count == 3 && columns?[1] == "apns" && columns?[2].hasPrefix("20") == true)
                #expect(!list.output.lowercased().contains(handle.suffix(8).lowercased()))
            }
            let devices = try site.list("device", "list", alice.name)
            #expect(Set(devices.compactMap { $0["id"]?.string }) == Set(ids))
            #expect(devices.allSatisfy { $0["platform"]?.string == "apns" && $0["pending"]?.bool == false })
            #expect(devices.allSatisfy { Set(($0.members ?? []).map(\.name)) == Self.members })
            #expect(try site.run("device", "remove", bob.name, ids[0]).status == 1)
            #expect(try site.run("device", "remove", alice.name, ids[0]).output == "removed \(ids[0])\n")
            #expect(try site.list("device", "list", alice.name).map { $0["id"]?.string } == [ids[1]])
            let again = try site.run("device", "remove", alice.name, ids[0])
            #expect(again.status == 1 && again.errors == "Error: \(alice.name) has no device of that id.\n")
            #expect(try site.run("device", "list", "nosuch").status == 1)
            let hub = try site.hubClient()
            #expect(try hub.registration(#require(RegistrationID(ids[0]))) == nil)
            #expect(try hub.registration(#require(RegistrationID(ids[1]))) != nil)
        }

        private static let members: Set = ["id", "platform", "tags", "registeredAt", "pending"]

        @Test func `the service goes on with the removal of a device where the hub was away`() async throws {
            try await WireSite.run { site in
                let alice = try site.addUser("alice")
                let id = try site.register(alice, handle: site.makeHandle())
                site.hub.signal(SIGSTOP)
                defer { site.hub.signal(SIGCONT) }
                let refused = try Program.run(
                    Program.appBackend,
                    ["device", "remove", alice.name, id, "--config", site.configurationOfLittlePatience()])
                #expect(refused.status == 4 && refused.output == "removed \(id)\n")
                #expect(refused.errors.contains("1 registration could not be removed at the hub: hub: no answer"))
                #expect(try site.run("device", "list", alice.name).output.contains("\(id)  being removed  "))
                #expect(try site.call(.get, Path.register, as: alice).body == Array("[]".utf8))
                site.hub.signal(SIGCONT)
                #expect(
                    try Deadline.poll(seconds: 120) { try site.run("device", "list", alice.name).output.isEmpty })
                #expect(try site.hubClient().registration(#require(RegistrationID(id))) == nil)
            }
        }
    }
}

extension ServedSite {
    /// What a command lists by `--json`.
    func list(_ arguments: String...) throws -> [JSONValue] {
        let outcome = try run(arguments + ["--json"], input: "")
        #expect(outcome.status == 0 && outcome.errors.isEmpty)
        return try JSONValue(parsing: Array(outcome.output.utf8)).array ?? []
    }
}
