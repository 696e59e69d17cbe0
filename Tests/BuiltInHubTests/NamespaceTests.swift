// SPDX-License-Identifier: Apache-2.0
import FileStore
import Foundation
import HTTP
import HTTPTypes
import HubServer
import NotificationHub
import Store
import Support
import Testing
import Text

@testable import BuiltInHub

/// The served hub beside a backend whose user alice has a device, from the view of each key.
@Suite final class `The served hub and the backend's devices` {
    private let path = NSTemporaryDirectory() + "/namespaces-\(UUID().uuidString)"

    deinit { try? FileManager.default.removeItem(atPath: path) }

    private static let device = "AAAA"
    private static let own = "BBBB"
    /// Tags of alice's device.
    private static let tags = ["username:alice", "from:bob", "role:oncall", "app:com.example.chat", "news"]
    /// What reaches her device, beside those.
    private static let reserved = ["username:alice", "Username:ALICE", "from:bob", "role:oncall", "device:1-1-1"]

    private func bench(isShared: Bool = false, inFiles: Bool = false) throws -> HubBench {
        var options = HubServer.Options()
        options.isShared = isShared
        var store: any HubStore = MemoryHubStore()
        if inFiles { store = try FileSiteStore.open(path: path, options: .patient) }
        let bench = HubBench(store: store, isServed: true, options: options)
        _ = try bench.builtIn.put(try alice(), under: try id(), replacing: nil)
        return bench
    }

    private func alice() throws -> RegistrationDescription {
        RegistrationDescription(tags: try Self.tags.map { try Tag($0) }, handle: try .apns(Self.device))
    }

    private func id() throws -> RegistrationID { try #require(RegistrationID("1-1-1")) }

    /// The handles that a message of the backend reaches.
    private func reached(_ bench: HubBench, _ text: String?) throws -> [String] {
        let expression = try text.map { try TagExpression(parsing: $0) }
        var found: [String] = []
        try bench.builtIn.selection.forEach(.native(.apns), expression) { found.append($0.description.handle.channel) }
        return found.sorted()
    }

    /// How many devices a send of a key has reached.
    private func count(_ bench: HubBench, _ sent: Response) throws -> Int {
        #expect(sent.status.code == 201, "\(sent.text)")
        return try bench.details(sent.createdID).outcomes.flatMap(\.counts).reduce(0) { $0 + $1.count }
    }

    private struct Call: Sendable {
        let name: String
        let needed: [String]
        /// With a right key.
        let status: Int
        let make: @Sendable (HubBench, _ key: String) -> Response
    }

    /// Every operation of the hub, tried on alice's device.
    private static func calls(isShared: Bool) -> [Call] {
        let listen = ["listen", "full"]
        let send = ["send", "full"]
        let item = "/myhub/registrations/1-1-1"
        let entry = HubBench.entry(HubBench.apple(own, tags: isShared ? "mine" : "username:alice,from:bob,role:oncall"))
        let message = ["ServiceBusNotification-Format": "apple", "ServiceBusNotification-Tags": "mine"]
        let later = message.merging(["ServiceBusNotification-ScheduleTime": "2018-11-07T01:00:00"]) { $1 }
        return [
            Call(name: "read", needed: listen, status: 404) { $0.ask(.get, item, key: $1) },
            Call(name: "change", needed: listen, status: 404) {
                $0.ask(.put, item, key: $1, fields: ["If-Match": "*"], body: entry)
            },
            Call(name: "delete", needed: listen, status: 404) {
                $0.ask(.delete, item, key: $1, fields: ["If-Match": "*"])
            },
            Call(name: "replace", needed: listen, status: 200) { $0.ask(.put, item, key: $1, body: entry) },
            Call(name: "delete its own", needed: listen, status: 200) {
                $0.ask(.delete, item, key: $1, fields: ["If-Match": "*"])
            },
            Call(name: "make an id", needed: listen, status: 201) { $0.ask(.post, "/myhub/registrationids", key: $1) },
            Call(name: "create", needed: listen, status: 200) {
                $0.ask(.post, "/myhub/registrations", key: $1, body: entry)
            },
            Call(name: "find by handle", needed: listen, status: 200) {
                $0.ask(
                    .get, "/myhub/registrations", query: "api-version=2020-06&$filter=DeviceToken+eq+'\(device)'",
                    key: $1)
            },
            Call(name: "list", needed: ["full"], status: 200) { $0.ask(.get, "/myhub/registrations", key: $1) },
            Call(name: "list by tag", needed: ["full"], status: 200) {
                $0.ask(.get, "/myhub/tags/news/registrations", key: $1)
            },
            Call(name: "list a user's", needed: ["full"], status: 200) {
                $0.ask(.get, "/myhub/tags/username:alice/registrations", key: $1)
            },
            Call(name: "send", needed: send, status: 201) { $0.send("apple", tags: "mine", key: $1) },
            Call(name: "broadcast", needed: send, status: 201) { $0.send("apple", key: $1) },
            Call(name: "try", needed: send, status: 201) {
                $0.send("apple", query: "api-version=2020-06&test", key: $1)
            },
            Call(name: "try a tag", needed: send, status: 201) {
                $0.send("apple", tags: "news", query: "api-version=2020-06&test", key: $1)
            },
            Call(name: "send to a handle", needed: send, status: 201) {
                $0.send(
                    "apple", query: "api-version=2020-06&direct", key: $1,
                    fields: ["ServiceBusNotification-DeviceHandle": own])
            },
            Call(name: "send later", needed: send, status: 201) {
                $0.ask(.post, "/myhub/schedulednotifications", key: $1, fields: later, body: "{}")
            },
            Call(name: "cancel", needed: send, status: 404) {
                $0.ask(.delete, "/myhub/schedulednotifications/1-2-3-4", key: $1)
            },
            Call(name: "ask after an unknown message", needed: send, status: 404) {
                $0.ask(.get, "/myhub/messages/1-2-3-4", key: $1)
            },
        ]
    }

    @Test(arguments: ["listen", "send", "full"], [false, true])
    func `no key reads, lists, finds, changes or deletes them, in one hub or two`(key: String, isShared: Bool) throws {
        for inFiles in [false, true] {
            let bench = try bench(isShared: isShared, inFiles: inFiles)
            let before = try bench.builtIn.find(id())
            for call in Self.calls(isShared: isShared) {
                let response = call.make(bench, key)
                #expect(
                    response.status.code == (call.needed.contains(key) ? call.status : 401),
                    "\(key) \(call.name): \(response.text)")
                // A list says what was asked for.
                #expect(!response.text.contains(">\(Self.device)<"), "\(key) \(call.name)")
                #expect(try bench.builtIn.find(id()) == before, "\(key) \(call.name)")
                #expect(try reached(bench, "username:alice") == [Self.device], "\(key) \(call.name)")
            }
            try? FileManager.default.removeItem(atPath: path)
        }
    }

    @Test func `in two hubs a registration with a user's tags hears none of the user's messages`() throws {
        let bench = try bench()
        let tags = (Self.reserved + ["news"]).joined(separator: ",")
        let created = bench.ask(
            .put, "/myhub/registrations/9-9-9", key: "listen",
            body: HubBench.entry(HubBench.apple(Self.own, tags: tags)))
        #expect(created.status.code == 200)
        for expression in Self.reserved + ["news", "!other", nil] {
            #expect(try reached(bench, expression) == [Self.device], "\(expression ?? "all")")
        }
        #expect(try reached(bench, "device:9-9-9") == [])
        // It is one of the served hub's own.
        for expression in Self.reserved + ["news", "device:9-9-9", "!other", nil] {
            #expect(try count(bench, bench.send("apple", tags: expression, key: "send")) == 1, "\(expression ?? "all")")
        }
        #expect(try bench.ask(.get, "/myhub/tags/username:alice/registrations").ids() == ["9-9-9"])
    }

    @Test func `in one hub reserved tags are refused, and sends to them need Manage`() throws {
        let bench = try bench(isShared: true)
        for tag in Self.reserved + ["App:x", "ROLE:x"] {
            let entry = HubBench.entry(HubBench.apple(Self.own, tags: "fine,\(tag)"))
            for key in ["listen", "full"] {
                let put = bench.ask(.put, "/myhub/registrations/9-9-9", key: key, body: entry)
                let post = bench.ask(.post, "/myhub/registrations", key: key, body: entry)
                #expect(put.status.code == 400 && post.status.code == 400, "\(tag)")
            }
            for expression in [tag, "!\(tag)", "news || \(tag)"] {
                let refused = bench.send("apple", tags: expression, key: "send")
                #expect(refused.status.code == 401 && refused.text.contains("Manage claim is required"), "\(tag)")
                #expect(bench.send("apple", tags: expression, key: "full").status.code == 201)
            }
        }
        #expect(bench.put("9-9-9", HubBench.apple(Self.own, tags: "news")).status.code == 200)
        #expect(try count(bench, bench.send("apple", tags: "username:alice")) == 1)
        #expect(try count(bench, bench.send("apple", tags: "news", key: "send")) == 2)
        #expect(try count(bench, bench.send("apple", key: "send")) == 2)
        #expect(try reached(bench, "news") == [Self.device, Self.own].sorted())
        #expect(try reached(bench, nil) == [Self.device, Self.own].sorted())
    }

    @Test func `in one hub what was registered under a user's tag before, or her device's id, hears nothing`() throws {
        let before = try bench(inFiles: true)
        let tags = "username:alice,from:bob,role:oncall,mine"
        for id in ["1-1-1", "9-9-9"] {
            #expect(before.put(id, HubBench.apple(Self.own, tags: tags)).status.code == 200)
        }
        var options = HubServer.Options()
        options.isShared = true
        let bench = HubBench(store: before.store, isServed: true, options: options)
        for expression in Self.reserved { #expect(try reached(bench, expression) == [Self.device], "\(expression)") }
        #expect(try reached(bench, "username:alice || mine") == [Self.device, Self.own].sorted())
        #expect(try reached(bench, "username:alice && mine") == [])
    }

    @Test func `a device that is registered in both gets a message of one hub once`() throws {
        let bench = try bench(isShared: true)
        #expect(bench.put("9-9-9", HubBench.apple(Self.device, tags: "news")).status.code == 200)
        #expect(try reached(bench, "news") == [Self.device])
        #expect(try count(bench, bench.send("apple", tags: "news", key: "send")) == 1)
    }

    @Test func `a send key learns nothing of the backend's messages, by whatever id`() throws {
        let bench = try bench()
        let sent = try bench.builtIn.send(.apns(json: []), to: .tags(.tag(Tag("username:alice"))))
        let id = try #require(sent.notificationID)
        #expect(bench.ask(.get, "/myhub/messages/\(id)", key: "send").status.code == 404)
        #expect(bench.ask(.get, "/myhub/messages/\(id)", key: "full").status.code == 404)
        #expect(try bench.builtIn.message(id).tags == "username:alice")
    }

    @Test(arguments: [("listen", 401, 401), ("send", 404, 404), ("full", 200, 200)])
    func `in one hub only Manage knows of what the backend has sent, now or for later`(
        key: String, read: Int, cancelled: Int
    ) throws {
        var options = HubServer.Options()
        options.isShared = true
        let delivery = DeliveryBench()
        let bench = HubBench(store: delivery.store, worker: delivery.worker, isServed: true, options: options)
        func ask(_ method: HTTPRequest.Method, _ path: String) throws -> Int {
            let response = bench.ask(method, "/myhub/\(path)", key: key)
            if response.status.code == 404 { #expect(try ErrorDocument(decoding: response.body).code == "404") }
            return response.status.code
        }
        var message = HubNotification(format: .native(.browser), body: [1], contentType: "text/plain")
        let skipped = try bench.builtIn.send(.apns(json: []), to: .tags(nil))
        message.notBefore = HubBench.now + 100
        let waiting = try #require(bench.builtIn.send(message, to: .tags(nil)).notificationID)
        for id in [try #require(skipped.notificationID), waiting] { #expect(try ask(.get, "messages/\(id)") == read) }
        #expect(try ask(.delete, "schedulednotifications/\(waiting)") == cancelled)
        #expect((try? bench.builtIn.message(waiting)) == nil || cancelled != 200)
        // A key's own sends are those of every key with the right.
        let fields = [
            "ServiceBusNotification-Format": "browser", "ServiceBusNotification-ScheduleTime": "2018-11-07T00:20:17",
        ]
        let own = bench.ask(.post, "/myhub/schedulednotifications", key: "full", fields: fields, body: "{}").createdID
        let done = bench.send("apple").createdID
        let known = key == "listen" ? 401 : 200
        for id in [done, own] { #expect(try ask(.get, "messages/\(id)") == known) }
        #expect(try ask(.delete, "schedulednotifications/\(own)") == known)
    }

    /// Devices of users, between whose ids those of keys lie.
    private func registerUsers(_ count: Int, _ bench: HubBench) throws {
        for number in 0..<count {
            let id = try #require(RegistrationID("\(number)-0-1"))
            let description = RegistrationDescription(tags: [], handle: try .fcm("token-\(number)"))
            _ = try bench.builtIn.put(description, under: id, replacing: nil)
        }
    }

    @Test func `a page of a list is read once, and no user's device for it`() throws {
        let store = MemoryHubStore()
        let bench = HubBench(store: store, isServed: true)
        try registerUsers(600, bench)
        for number in 0..<600 { bench.put("\(number)-1-1", HubBench.apple("AB")) }
        let before = store.registrationsRead
        let page = bench.ask(.get, "/myhub/registrations", query: "api-version=2020-06&$top=100")
        #expect(try page.ids().count == 100)
        #expect(store.registrationsRead - before == 100)
    }

    @Test(arguments: [1, 2, 7, 1000]) func `a list is whole, however many users' devices lie between`(top: Int) throws {
        let bench = HubBench(isServed: true)
        try registerUsers(1_200, bench)
        let own = (1...9).map { "\($0)-1-1" }
        for id in own { bench.put(id, HubBench.apple("AB")) }
        var (found, next): ([String], String?) = ([], "")
        while let token = next {
            let response = bench.ask(
                .get, "/myhub/registrations", query: "api-version=2020-06&$top=\(top)&ContinuationToken=\(token)")
            let page = try response.ids()
            #expect(page.count <= top)
            found += page
            next = HTTPField.Name("x-ms-continuationtoken").flatMap { response.fields[$0] }
        }
        #expect(found.sorted() == own)
    }
}
