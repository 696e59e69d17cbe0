// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTP
import HTTPTypes
import Support
import Testing

extension WireTests {
    /// `app-backend doctor` on clock, TLS, key and hub: the service is well, and this command's configuration is not.
    struct DoctorHubStories {
        /// A setting that is another one, and the step that is wrong then.
        struct Row: CustomTestStringConvertible, Sendable {
            let step: String
            /// With those that are left out at this site anyway.
            let skipped: [String]
            /// As the fix names it.
            let setting: String
            /// A text of the configuration and the one in its place, given a port on which no process listens.
            let edit: @Sendable (WireSite, UInt16) -> (text: String, other: String)

            var testDescription: String { "\(step): \(setting)" }
        }

        static let rows: [Row] = [
            Row(
                step: "key", skipped: ["issuers", "hub", "push"], setting: "SharedAccessKey in hub.connectionString"
            ) { site, _ in
                (site.hubKey.key.reveal(), site.secrets.make("another-key-that-is-long-enough-"))
            },
            Row(step: "hub", skipped: ["issuers", "key", "push"], setting: "hub.name") { _, _ in
                ("\"\(WireSite.hubName)\"", "\"no-such-hub\"")
            },
            Row(step: "hub", skipped: ["issuers", "tls", "key", "push"], setting: "hub.proxy") { site, port in
                let password = site.secrets.make("proxy-password-")
                return (
                    "\"timeout\": 30", "\"timeout\": 30, \"proxy\": \"http://user:\(password)@localhost:\(port)\""
                )
            },
            Row(step: "tls", skipped: ["issuers", "key", "hub", "push"], setting: "hub.caFile") { site, _ in
                ("\"caFile\": \"\(site.certificates)/cert.pem\"", "\"caFile\": null")
            },
        ]

        @Test(arguments: rows) func `a setting of the hub's that is wrong is found at its step`(row: Row) throws {
            let site = try sharedSite()
            _ = try site.addUser("doctor")
            let port = try LoopbackPort()
            let (text, other) = row.edit(site, port.number)
            let file = try site.configuration(replacing: text, with: other)
            let diagnosis = try withExtendedLifetime(port) {
                try site.diagnose(WireSite.Walk(configuration: file))
            }
            #expect([diagnosis.wrong, diagnosis.steps("skipped")] == [[row.step], row.skipped])
            #expect(diagnosis.cure(row.step).contains("\(row.setting) in \(file)"))
        }

        @Test func `a clock that is behind the hub's is wrong, and not the key`() throws {
            let site = try sharedSite()
            _ = try site.addUser("doctor")
            let folder = try ScratchFolder()
            let hub = try EchoResponder(in: folder) { request in
                guard request.path != "/health" else { return Response() }
                let body = "<Error><Code>401</Code><Detail>ExpiredToken: .TrackingId:x</Detail></Error>"
                return Response(
                    status: .unauthorized, fields: [.date: Self.httpDate(600)], body: Array(body.utf8))
            }
            defer { hub.stop() }
            try site.withFrontDoor(FrontDoor.Changes(servesHub: true, sockets: [hub.socket])) { door in
                let file = try site.configuration(
                    replacing: "sb://\(site.hubAuthority)/", with: "sb://localhost:\(door.port)/")
                let diagnosis = try site.diagnose(WireSite.Walk(configuration: file))
                #expect(diagnosis.wrong == ["clock"])
                #expect(diagnosis.cure("clock").contains("timedatectl set-ntp true"))
            }
        }

        /// So many seconds from now, as a server says it.
        private static func httpDate(_ seconds: Double) -> String {
            let format = DateFormatter()
            format.locale = Locale(identifier: "en_US_POSIX")
            format.timeZone = TimeZone(identifier: "GMT")
            format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
            return format.string(from: Date().addingTimeInterval(seconds))
        }
    }
}
