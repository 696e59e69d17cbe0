// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import HTTP
import HTTPTypes
import NotificationHub
import Support
import Testing
import Text

extension WireTests {
    /// The built-in hub with a policy for each of its callers.
    struct HubKeyStories {
        private static func key(_ letter: String) -> String { "key-\(letter)-" + String(repeating: letter, count: 32) }

        private static func keys(_ store: String, listenerSecondary: String) -> String {
            """
            "store": { "path": "\(store)" }, "hub": { "name": "\(WireSite.hubName)" }, "localHub": { "serve": true,
              "keys": ["SharedAccessKeyName=listener;Rights=Listen;PrimaryKey=\(key("a"));SecondaryKey=\(key(listenerSecondary))",
                       "sharedaccesskeyname=sender;primarykey=\(key("c"));rights=send",
                       "SharedAccessKeyName=both;Rights=Listen+Send;PrimaryKey=\(key("d"))",
                       "SharedAccessKeyName=manager;Rights=Manage;PrimaryKey=\(key("e"))"] }
            """
        }

        private static func run(_ body: (DoorSite, BackendProcess) throws -> Void) throws {
            let scratch = try ScratchFolder()
            let hub = try BackendProcess("hub", in: scratch, keys: keys(scratch.path("store"), listenerSecondary: "b"))
            defer { hub.stop() }
            try DoorSite.run(before: hub.socket, in: scratch, changing: { $0.servesHub = true }) { try body($0, hub) }
        }

        /// The status of one call, and what the answer says.
        private static func ask(
            _ site: DoorSite, _ method: HTTPRequest.Method, _ path: String, name: String, key letter: String
        ) throws -> (status: Int, text: String) {
            let answer = try call(
                site, method, path, name: name, key: letter, fields: ["ServiceBusNotification-Format": "apple"])
            return (answer.status.code, String(decoding: answer.body, as: UTF8.self))
        }

        private static func call(
            _ site: DoorSite, _ method: HTTPRequest.Method, _ path: String, name: String, key letter: String,
            fields extra: [String: String]
        ) throws -> Response {
            let key = SharedAccessKey(name: name, key: Secret(Self.key(letter)), rights: .full)
            let token = SharedAccessSignature.make(
                resource: "https://localhost:\(site.door.port)/\(WireSite.hubName)", key: key,
                expiry: Int64(Date().timeIntervalSince1970) + 600)
            var fields: HTTPFields = [.authorization: token, .contentType: "application/json"]
            for (name, value) in extra { fields[try #require(HTTPField.Name(name))] = value }
            return try site.transport.respond(
                to: Request(
                    method: method, authority: site.authority, path: "/\(WireSite.hubName)/\(path)",
                    query: "api-version=2020-06", fields: fields, body: method == .post ? Array("{}".utf8) : []))
        }

        @Test func `a send for later passes nginx, and so does its cancelling`() throws {
            let scratch = try ScratchFolder()
            let browsers = """
                , "webPush": { "subject": "mailto:push@example.com",
                  "privateKey": "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw" }
                """
            let keys = Self.keys(scratch.path("store"), listenerSecondary: "b") + browsers
            let hub = try BackendProcess("hub", in: scratch, keys: keys)
            defer { hub.stop() }
            try DoorSite.run(before: hub.socket, in: scratch, changing: { $0.servesHub = true }) { site in
                func call(_ method: HTTPRequest.Method, _ path: String, _ fields: [String: String] = [:]) throws
                    -> Response
                {
                    try Self.call(site, method, path, name: "sender", key: "c", fields: fields)
                }
                let time = HubTime(Int64(Date().timeIntervalSince1970) + 3_600).iso8601
                let sent = try call(
                    .post, "schedulednotifications",
                    ["ServiceBusNotification-Format": "browser", "ServiceBusNotification-ScheduleTime": time])
                #expect(sent.status.code == 201)
                let location = try #require(sent.fields[.location]).prefix { $0 != "?" }
                let id = try #require(location.split(separator: "/").last)
                let statuses = try (0..<2).map { _ in try call(.delete, "schedulednotifications/\(id)") }
                #expect(statuses.map(\.status.code) == [200, 404])
                #expect(statuses.last?.fields[.contentType] == "application/xml; charset=utf-8")
            }
        }

        @Test func `each key may do what its rights say, and an answer names the right that it lacks`() throws {
            let callers = [
                ("listener", "a", [201, 401, 401]), ("listener", "b", [201, 401, 401]),
                ("sender", "c", [401, 201, 401]),
                ("both", "d", [201, 201, 401]), ("manager", "e", [201, 201, 200]), ("sender", "a", [401, 401, 401]),
            ]
            let operations: [(HTTPRequest.Method, String, String)] = [
                (.post, "registrationids", "Listen"), (.post, "messages/", "Send"), (.get, "registrations", "Manage"),
            ]
            try Self.run { site, _ in
                for (name, letter, statuses) in callers {
                    for (operation, expected) in zip(operations, statuses) {
                        let answer = try Self.ask(site, operation.0, operation.1, name: name, key: letter)
                        #expect(answer.status == expected, "\(name) \(operation.1)")
                        guard expected == 401 else { continue }
                        // A key of another policy does not belong to this name.
                        let said =
                            name == "sender" && letter == "a"
                            ? "InvalidSignature" : "\(operation.2) claim is required for this operation."
                        #expect(answer.text.contains(said), "\(answer.text)")
                    }
                }
            }
        }

        @Test func `a key is changed without a cut: the other one is good while it is done`() throws {
            try Self.run { site, hub in
                func status(_ letter: String) throws -> Int {
                    try Self.ask(site, .post, "registrationids", name: "listener", key: letter).status
                }
                #expect(try [status("a"), status("b"), status("f")] == [201, 201, 401])
                try hub.configure(keys: Self.keys(hub.folder.path("store"), listenerSecondary: "f"))
                hub.signal(SIGHUP)
                #expect(try Deadline.poll(seconds: 60) { try status("f") == 201 })
                #expect(try [status("a"), status("b")] == [201, 401])
            }
        }

        @Test func `keys may be lines of a credential, and are in no log`() throws {
            let scratch = try ScratchFolder()
            let credentials = try scratch.makeFolder("credentials")
            let lines = "abc".map { "SharedAccessKeyName=\($0);Rights=Listen;PrimaryKey=\(Self.key(String($0)))" }
            try scratch.write(lines.joined(separator: "\n") + "\n", to: "credentials/localHub.keys")
            let hub = try BackendProcess(
                "hub", in: scratch, environment: ["CREDENTIALS_DIRECTORY=\(credentials)"],
                keys:
                    #""store": { "path": "\#(scratch.path("store"))" }, "hub": { "name": "\#(WireSite.hubName)" }, "localHub": { "serve": true }"#
            )
            defer { hub.stop() }
            try DoorSite.run(before: hub.socket, in: scratch, changing: { $0.servesHub = true }) { site in
                for letter in ["a", "b", "c"] {
                    let status = try Self.ask(site, .post, "registrationids", name: letter, key: letter).status
                    #expect(status == 201)
                }
            }
            #expect(!hub.log.contains("key-a-"))
        }
    }
}
