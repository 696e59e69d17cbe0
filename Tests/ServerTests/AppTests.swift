// SPDX-License-Identifier: Apache-2.0
import HTTP
import HTTPTypes
import Metrics
import NotificationHub
import Push
import Testing

@testable import Server

/// Several apps of one platform in one configuration.
struct AppTests {
    private static func google(_ project: String) -> String {
        #"{ "credential": "{\"type\":\"metadata_server\",\"project_id\":\"\#(project)\"}" }"#
    }
    private static let package = #"{ "packageSid": "ms-app://S-1-15-2-7", "secret": "s" }"#
    private static let entra = #"{ "clientId": "5D5F3A2C", "tenant": "t", "secret": "s" }"#

    private static let several = """
        "apns": [\(TestCredentials.appleApp("com.example.chat")), \(TestCredentials.appleApp("com.example.mail")),
            \(TestCredentials.appleApp("com.example.mail", "sandbox"))],
        "fcm": [\(google("chat-1")), \(google("example.com:mail"))], "wns": [\(package), \(entra)]
        """

    private func read(_ members: String) throws -> SiteConfiguration {
        let written = try WrittenConfiguration(#"{ "store": { "path": "/s" }, \#(members) }"#)
        #expect(written.faults.map(\.description) == [])
        return try #require(written.configuration)
    }

    /// - Parameter body: gets the channels while they are open.
    private func withChannels(_ members: String, _ body: (SiteChannels) throws -> Void) throws {
        let site = try SiteChannels(try read(members), metrics: PushMetrics(), now: { 0 }, report: { _ in })
        defer { site.close() }
        try body(site)
    }

    @Test func `are named once each, and the first is the default app`() throws {
        #expect(
            try read(Self.several).appNames == [
                .apns: ["com.example.chat", "com.example.mail"], .fcm: ["chat-1", "example.com:mail"],
                .wns: ["S-1-15-2-7", "5D5F3A2C"],
            ])
    }

    @Test func `have channels of their own, which log, metrics and doctor tell apart`() throws {
        let names = [
            "apns com.example.chat", "apns com.example.mail", "apns com.example.mail sandbox", "fcm chat-1",
            "fcm example.com:mail", "wns S-1-15-2-7", "wns 5D5F3A2C",
        ]
        try withChannels(Self.several) { site in
            #expect(site.channels.map(\.name) == names && site.probes.map(\.channel) == names)
        }
        let one = #""apns": \#(TestCredentials.appleApp("a.b")), "fcm": \#(Self.google("p")), "wns": \#(Self.package)"#
        try withChannels(one) { #expect($0.channels.map(\.name) == ["apns", "fcm", "wns"]) }
    }

    private static let apple = try? DeviceHandle.apns(String(repeating: "AB", count: 32))
    private static let android = try? DeviceHandle.fcm("token-1")
    private static let windows = try? DeviceHandle.wns("https://db5p.notify.windows.com/?token=a")

    /// Device, app, and the channel that reaches it.
    private static let rows: [(device: DeviceHandle?, app: String?, channel: String?)] = [
        (apple, nil, "apns com.example.chat"), (apple, "com.example.chat", "apns com.example.chat"),
        (apple, "com.example.mail", "apns com.example.mail"), (apple, "com.example.gone", nil),
        (android, nil, "fcm chat-1"), (android, "chat-1", "fcm chat-1"),
        (android, "example.com:mail", "fcm example.com:mail"), (android, "com.example.mail", nil),
        (windows, nil, "wns S-1-15-2-7"), (windows, "s-1-15-2-7", "wns S-1-15-2-7"),
        (windows, "5d5f3a2c", "wns 5D5F3A2C"), (windows, "chat-1", nil),
    ]

    @Test func `are reached by their own credential and by no other`() throws {
        try withChannels(Self.several) { site in
            let channels = PushChannels(site.channels)
            for row in Self.rows {
                let found = channels.channel(for: try #require(row.device), of: row.app)
                #expect(found?.name == row.channel, "\(row.app ?? "none")")
                let other = found.flatMap { channels.environment(after: $0)?.name }
                #expect(other == (row.channel == "apns com.example.mail" ? "apns com.example.mail sandbox" : nil))
            }
        }
    }

    @Test func `send with their own topic and to their own project`() throws {
        try withChannels(Self.several) { site in
            let channels = PushChannels(site.channels)
            for app in ["com.example.chat", "com.example.mail"] {
                let device = try #require(Self.apple)
                let alert = HubNotification.apns(json: Array(#"{"aps":{"alert":"x"}}"#.utf8))
                let request = try channels.channel(for: device, of: app)?.driver.request(for: alert, to: device)
                let name = try #require(HTTPField.Name("apns-topic"))
                #expect(request?.fields[name] == app)
            }
            for app in ["chat-1", "example.com:mail"] {
                let device = try #require(Self.android)
                let message = HubNotification(
                    format: .native(.fcm), body: Array(#"{"message":{"data":{"a":"b"}}}"#.utf8),
                    contentType: "application/json")
                let request = try channels.channel(for: device, of: app)?.driver.request(for: message, to: device)
                #expect(request?.path.contains("/projects/\(app)/") == true)
            }
        }
    }
}
