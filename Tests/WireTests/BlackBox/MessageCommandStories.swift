// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import Foundation
import HTTPTypes
import JSON
import Testing
import Text

extension WireTests {
    /// `message`, beside a server that is running.
    struct MessageCommandStories {
        @Test func `the operator sees what each device got`() throws {
            try SendingSite.run { site in
                let bob = try site.addUser("bob")
                for _ in 1...2 { _ = try site.registerBrowser(bob) }
                let ids = Set(try site.list("device", "list", bob.name).compactMap { $0["id"]?.string })
                #expect(try site.run("send", "--to", bob.name, "Hello").status == 0)
                let id = try #require(try site.list("message", "list").first?["id"]?.string)
                let outcome = try site.run("message", "show", "--json", id)
                #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome)")
                let json = try JSONValue(parsing: Array(outcome.output.utf8))
                let devices = try #require(json["Devices"]?.array)
                #expect(Set(devices.compactMap { $0["RegistrationId"]?.string }) == ids)
                #expect(devices.allSatisfy { $0["User"]?.string == bob.name && $0["Outcome"]?.string == "Success" })
                let lines = try site.run("message", "show", id).output.split(separator: "\n").map {
                    $0.split(separator: " ").map(String.init)
                }
                for id in ids { #expect(lines.contains(["browser", id, bob.name, "Success"]), "\(lines)") }
                // The list says the same.
                let listed = try #require(try site.list("message", "list").first?["outcomes"]?.array)
                let shown = try #require(json["Outcomes"]?.array)
                #expect(listed.map { $0["platform"]?.string } == shown.map { $0["Platform"]?.string })
                #expect(listed.map { $0["state"]?.string } == shown.map { $0["State"]?.string })
                #expect(try site.run("message", "list").output.contains("browser Completed"))
                #expect(lines.contains { $0.starts(with: ["browser", "Completed"]) }, "\(lines)")
            }
        }

        @Test func `the doctor sends a notification where it is asked to, and says what each device got`() throws {
            try SendingSite.run { site in
                let (bob, carol) = (try site.addUser("bob"), try site.addUser("carol"))
                for _ in 1...2 { _ = try site.registerBrowser(bob) }
                let ids = try site.list("device", "list", bob.name).compactMap { $0["id"]?.string }
                func diagnose(_ name: String) throws -> Diagnosis {
                    try Diagnosis(site.run("doctor", "--json", "--timeout", "60", "--send-to", name))
                }
                let diagnosis = try diagnose(bob.name)
                #expect(ids.count == 2 && diagnosis.steps("ok").last == "send", "\(diagnosis.json)")
                for id in ids { #expect(diagnosis.found("send").contains("browser \(id): Success")) }
                #expect(try diagnose(carol.name).found("send") == "\(carol.name) has no device")
                #expect(try diagnose("no-\(bob.name)").wrong.contains("send"))
            }
        }

        @Test func `the operator sees what waits for its time, counts it, and takes it back`() throws {
            let site = try sharedSite()
            let (alice, bob) = (try site.addUser("alice"), try site.addUser("bob"))
            let secret = site.secrets.make("text-")
            let sendAt = Timestamp(seconds: Int64(Date().timeIntervalSince1970) + 86_400)
            let message = PushMessage(to: .one(alice.name), body: secret, sendAt: sendAt.text)
            let body = String(decoding: message.json, as: UTF8.self)
            let id = try #require(SendOutcome(site.call(.post, Path.notifications, as: bob, body: body)).messageID)
            let waiting = try site.list("message", "list", "--waiting", "--user", bob.name)
            #expect(waiting.map { $0["id"]?.string } == [id] && waiting.first?["to"]?.string == alice.name)
            #expect(waiting.first?["sendAt"]?.string == sendAt.text && waiting.first?["triedAt"] == nil)
            func withAlice(before: String) throws -> Int {
                try site.list("message", "list", "--waiting", "--with", alice.name, "--before", before).count
            }
            #expect(try withAlice(before: (sendAt + 1).text) == 1 && withAlice(before: sendAt.text) == 0)
            let lines = try site.run("message", "list", "--waiting").output
            #expect(lines.contains("\(id)  20") && lines.contains("  \(alice.name)  ") && !lines.contains(secret))
            let metrics = String(decoding: try site.call(.get, Path.metrics).body, as: UTF8.self)
            #expect(metrics.contains("\napp_backend_scheduled_overdue_seconds 0\n"))
            #expect(metrics.contains(/\napp_backend_scheduled_messages [1-9]/))
            #expect(try site.run("message", "cancel", id).output == "cancelled \(id) of \(bob.name)\n")
            #expect(try site.list("message", "list", "--waiting", "--user", bob.name).isEmpty)
            let again = try site.run("message", "cancel", id)
            #expect(again.status == 1 && again.errors.contains("No message waits for its time under that id."))
            #expect(try site.run("message", "list", "--waiting", "--user", "other-\(bob.name)").status == 1)
        }

        @Test func `the operator sees who sent what to whom and what became of it, and no text`() throws {
            let site = try sharedSite()
            let (alice, bob) = (try site.addUser("alice"), try site.addUser("bob"))
            func send(_ text: String, from sender: WireUser, to recipient: WireUser) throws -> String {
                let message = PushMessage(to: .one(recipient.name), body: text, isSecure: true)
                let body = String(decoding: message.json, as: UTF8.self)
                let answer = try site.call(.post, Path.notifications, as: sender, body: body)
                return try #require(SendOutcome(answer).messageID)
            }
            let secret = site.secrets.make("text-")
            let first = try send(secret, from: bob, to: alice)
            let second = try send("Hi", from: alice, to: bob)
            #expect(try site.call(.post, "\(Path.notifications)/\(first)/opened", as: alice).status == .ok)

            let listed = try site.list("message", "list", "--user", bob.name)
            #expect(listed.map { $0["id"]?.string } == [first])
            #expect(listed.first?["to"]?.string == alice.name && listed.first?["opened"]?.integer == 1)
            #expect(try site.list("message", "list").contains { $0["id"]?.string == second })
            #expect(try site.list("message", "list", "--limit", "1").count == 1)
            let withBob = try site.list("message", "list", "--with", bob.name)
            // Those of one second are in any order.
            #expect(Set(withBob.map { $0["id"]?.string }) == [second, first])
            let time = try #require(withBob.last?["sentAt"]?.string)
            #expect(try site.list("message", "list", "--with", bob.name, "--before", time).isEmpty)
            #expect(try site.run("message", "list", "--before", "noon").status == 64)
            let lines = try site.run("message", "list", "--user", bob.name).output
            #expect(lines.contains("\(first)  20") && lines.contains("  \(alice.name)  ") && !lines.contains(secret))
            let head = lines.split(separator: "\n").first.map { $0.split(separator: " ").joined(separator: " ") }
            #expect(head == "id sent from to kind opened state" && !lines.contains(" \n"))

            let shown = try site.run("message", "show", first).output
            #expect(shown.contains("yes, not read") && !shown.contains(secret))
            let json = try JSONValue(parsing: Array(site.run("message", "show", "--json", first).output.utf8))
            #expect(json["MessageId"]?.string == first && json["Opened"]?.integer == 1)
            #expect(try site.run("message", "show", String(first.reversed())).status == 1)
            #expect(try site.run("message", "list", "--limit", "0").status == 64)

            // The operator is no user.
            #expect(try site.run("message", "list", "--user", "night-shift").status == 1)
            let sent = try site.run("send", "--from", "night-shift", "--to", alice.name, "Hi")
            let own = try site.list("message", "list", "--user", "night-shift")
            #expect(own.map { $0["to"]?.string } == [alice.name], "\(sent)")
        }
    }
}
