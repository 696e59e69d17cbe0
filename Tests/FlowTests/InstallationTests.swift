// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTPTypes
import JSON
import NotificationHub
import Testing

/// `POST /api/register` with a body, as the older tutorial's clients make it on each of their platforms.
struct InstallationTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let platform: InstallationRegistration.Platform
        let handle: String
        /// Of the registration: the platform and the handle as the hub has them.
        let hubPlatform: Platform
        let channel: String
        let template: String
        var headers: [PushHeader] = []

        var testDescription: String { platform.rawValue }
    }

    static let rows = [
        Row(
            platform: .ios, handle: String(repeating: "0a", count: 32), hubPlatform: .apns,
            channel: String(repeating: "0A", count: 32),
            template: #"{"aps":{"alert":".(message, 200)","content-available":1},"inAppMessage":"$(message)","#
                + #""secureId":"$(secureId)","secureToken":"$(secureToken)"}"#,
            headers: [PushHeader("apns-push-type", "alert"), PushHeader("apns-priority", "10")]),
        Row(
            platform: .android, handle: "dQw4:APA91b_token-long-1", hubPlatform: .fcm,
            channel: "dQw4:APA91b_token-long-1",
            template: #"{"message":{"data":{"message":"$(message)","secureId":"$(secureId)","#
                + #""secureToken":"$(secureToken)"},"android":{"priority":"high"}}}"#),
        Row(
            platform: .windows, handle: "HTTPS://DB5.notify.windows.com:443/?token=Ab%2Fc", hubPlatform: .wns,
            channel: "https://db5.notify.windows.com/?token=Ab%2Fc",
            template:
                #"<toast launch="$(secureId)"><visual><binding template="ToastGeneric"><text>$(message)</text></binding>"#
                + "</visual></toast>",
            headers: [PushHeader("X-WNS-Type", "wns/toast")]),
    ]

    private func install(_ row: Row, on site: TestSite) throws -> JSONValue {
        let body = InstallationRegistration(platform: row.platform, installationID: "inst-1", handle: row.handle).json
        let response = site.call(
            .post, "/api/register", as: "alice", body: String(decoding: body, as: UTF8.self))
        #expect(response.status == .ok)
        return try JSONValue(parsing: response.body)
    }

    @Test(arguments: rows) func `an installation gets its platform's template, its handle and its two tags`(
        row: Row
    ) throws {
        let site = try TestSite()
        let answer = try install(row, on: site)

        let id = try #require(answer["RegistrationId"]?.string.flatMap { RegistrationID($0) })
        let registration = try #require(try site.hubClient.registration(id))
        #expect(registration.handle.platform == row.hubPlatform)
        #expect(registration.handle.channel == row.channel)
        #expect(registration.tagTexts == ["inst-1", "username:alice"])
        let template = try #require(registration.template)
        #expect(template.body == row.template)
        #expect(template.headers == row.headers)

        #expect(answer["Platform"]?.string == row.hubPlatform.rawValue)
        #expect(answer["Handle"]?.string == String(row.channel.suffix(6)))
        #expect(answer["Tags"]?.array == [.string("inst-1")])
        #expect(answer["InstallationId"]?.string == "inst-1")
        let list = try JSONValue(parsing: site.call(.get, "/api/register", as: "alice").body).array
        #expect(list == [answer])
    }

    @Test(arguments: rows) func `the same installation again keeps its registration`(row: Row) throws {
        let site = try TestSite()
        let first = try install(row, on: site)
        #expect(try install(row, on: site)["RegistrationId"] == first["RegistrationId"])
        #expect(try site.hubClient.registrations(channel: row.channel).count == 1)
    }

    @Test func `the device's later, native registration is kept beside its template`() throws {
        let site = try TestSite()
        let row = try #require(Self.rows.first)
        _ = try install(row, on: site)
        _ = try site.register("alice", handle: row.handle)
        let registrations = try site.hubClient.registrations(channel: row.channel)
        #expect(registrations.count == 2)
        #expect(registrations.count { $0.template == nil } == 1)
    }
}
