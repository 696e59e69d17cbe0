// SPDX-License-Identifier: Apache-2.0
import AppBackend
import DeviceAPI
import HTTP
import HTTPTypes
import JSON
import Logging
import NotificationHub
import Support
import Testing
import Text

@testable import Server

/// A site on which the credentials of one platform are missing or of no use.
struct ChannelFaultTests {
    private struct Bench {
        private let store: ScratchFolder
        let written: WrittenConfiguration
        let log = CollectedLog()
        let site: ReloadableSite

        init(_ members: String) throws {
            store = try ScratchFolder()
            written = try WrittenConfiguration(
                #"{ "store": { "path": "\#(store.path("store"))" }, \#(members) }"#)
            let configuration = try #require(written.configuration)
            site = try ReloadableSite(
                configuration, listensOnPort: false, store: Site.openStore(configuration) { _ in }, logger: log.logger,
                metrics: Site.makeMetrics(), load: { HealthController.Load() })
        }

        /// The platforms that are delivered to, as apps see it.
        func delivering() throws -> Set<String> {
            let response = try site.respond(to: Request(method: .get, path: Path.config))
            let platforms = try JSONValue(parsing: response.body)["Platforms"]?.array ?? []
            return Set(platforms.filter { $0["Delivers"]?.bool == true }.compactMap { $0["Name"]?.string })
        }
    }

    private static let key = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
    private static let google = #""fcm": { "credential": "{\"type\":\"metadata_server\",\"project_id\":\"p\"}" }"#

    /// What is wrong, which key is named, and the platform that is off.
    private static let faults: [(members: String, key: String, platform: Platform)] = [
        (#""webPush": { "privateKey": "\#(key)" }"#, "webPush.subject", .browser),
        (#""webPush": { "privateKey": "\#(key)", "subject": "mailto:a@b.local" }"#, "webPush.subject", .browser),
        (#""webPush": { "privateKey": "x", "subject": "mailto:a@example.com" }"#, "webPush.privateKey", .browser),
        (#""apns": { "keyId": "ABC123DEFG", "teamId": "DEF123GHIJ", "topic": "a.b" }"#, "apns.keyFile", .apns),
        (#""apns": [\#(TestCredentials.appleApp("a.b")), { "topic": "a.c" }]"#, "apns.1.keyFile", .apns),
        (#""wns": { "packageSid": "ms-app://S-1-15-2-7" }"#, "wns.secret", .wns),
    ]

    @Test(arguments: faults)
    func `a fault of one platform's credentials keeps no service from starting, and that platform is off`(
        row: (members: String, key: String, platform: Platform)
    ) throws {
        let bench = try Bench("\(row.members), \(Self.google)")
        defer { bench.site.close() }
        #expect(bench.written.faults.contains { $0.key == row.key })
        #expect(bench.written.faults.allSatisfy { $0.channel == row.platform })
        #expect(try bench.delivering() == ["fcm"])
        let line = try #require(bench.log.lines.first { $0.text.contains("\(row.key): ") })
        #expect(line.level == .warning && line.text.contains("sends nothing to \(row.platform.rawValue)"))
    }

    @Test(arguments: [#""apns": { "keyid": "x" }"#, #""fcm": { "timeout": "soon" }"#, #""webPush": { "ttl": -1 }"#])
    func `a key that is unknown, or of another kind, is a fault of the whole configuration`(members: String) throws {
        let faults = try WrittenConfiguration(#"{ "store": { "path": "/s" }, \#(members) }"#).faults
        #expect(faults.contains { $0.channel == nil })
    }

    // MARK: What may be registered

    private static let p256dh = Base64.url.encode([0x04] + [UInt8](repeating: 7, count: 64))
    private static let auth = Base64.url.encode([UInt8](repeating: 9, count: 16))

    private func register(_ platform: String, _ endpoint: String, hosts: String) throws -> Response {
        let bench = try Bench(#""auth": { "method": "test" }, "webPush": { "hosts": \#(hosts) }"#)
        defer { bench.site.close() }
        let keys = platform == "browser" ? #","Keys":{"p256dh":"\#(Self.p256dh)","auth":"\#(Self.auth)"}"# : ""
        let body = #"{"Platform":"\#(platform)","Handle":"\#(endpoint)","Tags":[]\#(keys)}"#
        return try bench.site.respond(
            to: Request(
                method: .put, path: Path.register + "/1", query: "",
                // alice, whose password is her name.
                fields: [.authorization: "Basic YWxpY2U6YWxpY2U=", .contentType: "application/json"],
                body: Array(body.utf8)))
    }

    private static let endpoints: [(platform: String, endpoint: String, hosts: String)] = [
        ("browser", "https://permanently-removed.invalid/fcm/send/x", #"["vendors"]"#),
        ("browser", "https://permanently-removed.invalid/fcm/send/x", #"["*"]"#),
        ("browser", "https://printer.local/x", #"["*"]"#),
        ("browser", "https://android.googleapis.com/gcm/send/x", #"["vendors"]"#),
        ("browser", "https://fcm.googleapis.com./fcm/send/x", #"["vendors"]"#),
        ("browser", "https://fcm.googleapis.com./fcm/send/x", #"["*"]"#),
        ("wns", "https://example.com/?token=x", #"["vendors"]"#),
    ]

    @Test(arguments: endpoints)
    func `a device at a host that is never sent to is not registered`(
        row: (platform: String, endpoint: String, hosts: String)
    ) throws {
        let response = try register(row.platform, row.endpoint, hosts: row.hosts)
        #expect(response.status == .badRequest && Problem(response).field == "Handle")
    }

    @Test(arguments: [
        ("browser", "https://fcm.googleapis.com/fcm/send/x", #"["vendors"]"#),
        ("browser", "https://ntfy.example.com/up", #"["*"]"#),
        ("wns", "https://db5p.notify.windows.com/?token=a", #"["vendors"]"#),
    ])
    func `a device of a push service is`(platform: String, endpoint: String, hosts: String) throws {
        #expect(try register(platform, endpoint, hosts: hosts).status != .badRequest)
    }
}
