// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTP
import HTTPTypes
import Support
import Testing

extension WireTests {
    /// `app-backend doctor` on clock, TLS, key and hub: the service is well, and this command's configuration is not.
    struct DoctorHubStories {
        @Test func `the key is another one`() throws {
            let site = try sharedSite()
            _ = try site.addUser("doctor")
            let wrong = site.secrets.make("another-key-that-is-long-enough-")
            let file = try site.configuration(replacing: site.hubKey.key.reveal(), with: wrong)
            let diagnosis = try site.diagnose(WireSite.Walk(configuration: file))
            #expect(diagnosis.wrong == ["key"])
            #expect(diagnosis.cure("key").contains("SharedAccessKey in hub.connectionString in \(file)"))
        }

        @Test func `the key's name is another one`() throws {
            let site = try sharedSite()
            _ = try site.addUser("doctor")
            let file = try site.configuration(replacing: site.hubKey.name, with: "MyPolicy")
            let diagnosis = try site.diagnose(WireSite.Walk(configuration: file))
            #expect(diagnosis.wrong == ["key"] && diagnosis.found("key").contains("MyPolicy is not one of the two"))
            #expect(diagnosis.cure("key").contains("SharedAccessKeyName"))
        }

        @Test func `the hub's name is another one`() throws {
            let site = try sharedSite()
            _ = try site.addUser("doctor")
            let file = try site.configuration(replacing: "\"\(WireSite.hubName)\"", with: "\"no-such-hub\"")
            let diagnosis = try site.diagnose(WireSite.Walk(configuration: file))
            #expect(diagnosis.wrong == ["hub"] && diagnosis.cure("hub").contains("hub.name in \(file)"))
        }

        @Test func `no process listens at the hub's address`() throws {
            let site = try sharedSite()
            _ = try site.addUser("doctor")
            let port = try LoopbackPort()
            let file = try site.configuration(
                replacing: "sb://\(site.hubAuthority)/", with: "sb://localhost:\(port.number)/")
            let diagnosis = try withExtendedLifetime(port) {
                try site.diagnose(WireSite.Walk(configuration: file))
            }
            #expect(diagnosis.wrong == ["hub"] && diagnosis.cure("hub").contains("Endpoint in hub.connectionString"))
            #expect(diagnosis.steps("skipped").filter { !["issuers", "push"].contains($0) } == ["tls", "key"])
        }

        @Test func `the endpoint is a site and not a hub`() throws {
            let site = try sharedSite()
            _ = try site.addUser("doctor")
            let file = try site.configuration(
                replacing: "sb://\(site.hubAuthority)/", with: "sb://\(site.authority)/")
            let diagnosis = try site.diagnose(WireSite.Walk(configuration: file))
            #expect(diagnosis.wrong == ["hub"] && diagnosis.found("hub").contains("not as a hub"))
        }

        @Test func `the proxy is not there`() throws {
            let site = try sharedSite()
            _ = try site.addUser("doctor")
            let port = try LoopbackPort()
            let proxy = "http://user:\(site.secrets.make("proxy-password-"))@localhost:\(port.number)"
            let file = try site.configuration(
                replacing: "\"timeout\": 30", with: "\"timeout\": 30, \"proxy\": \"\(proxy)\"")
            let diagnosis = try withExtendedLifetime(port) {
                try site.diagnose(WireSite.Walk(configuration: file))
            }
            #expect(diagnosis.wrong == ["hub"] && diagnosis.cure("hub").contains("hub.proxy in \(file)"))
        }

        @Test func `the hub's certificate is of an authority that is not trusted`() throws {
            let site = try sharedSite()
            _ = try site.addUser("doctor")
            let file = try site.configuration(
                replacing: "\"caFile\": \"\(site.certificates)/cert.pem\"", with: "\"caFile\": null")
            let diagnosis = try site.diagnose(WireSite.Walk(configuration: file))
            #expect(diagnosis.wrong == ["tls"] && diagnosis.cure("tls").contains("hub.caFile in \(file)"))
            #expect(diagnosis.steps("skipped").filter { !["issuers", "push"].contains($0) } == ["key", "hub"])
        }

        @Test func `the hub's certificate has ended, or is for another name`() throws {
            let site = try sharedSite()
            _ = try site.addUser("doctor")
            for (certificate, found) in [
                (try DatedCertificate(from: -60, to: -1), "has expired"),
                (try DatedCertificate(name: "other.example", from: -1, to: 60), "DNS:other.example"),
            ] {
                let changes = FrontDoor.Changes(servesHub: true, sockets: [site.hub.socket], isWell: false)
                try site.withFrontDoor(changes, certificates: certificate.folder.path) { door in
                    let file = try site.configuration(
                        replacing: "sb://\(site.hubAuthority)/", with: "sb://localhost:\(door.port)/")
                    let text = try String(contentsOfFile: file, encoding: .utf8)
                    try site.scratch.write(
                        text.replacing("\(site.certificates)/cert.pem", with: certificate.folder.path("cert.pem")),
                        to: "doctor-tls.json")
                    let diagnosis = try site.diagnose(
                        WireSite.Walk(configuration: site.scratch.path("doctor-tls.json")))
                    #expect(diagnosis.wrong == ["tls"])
                    #expect(diagnosis.found("tls").contains(found), "\(diagnosis.found("tls"))")
                }
            }
        }

        /// What a hub answers to the signed question, and which step is wrong then.
        struct Row: CustomTestStringConvertible, Sendable {
            let name: String
            let status: Int
            var detail: String?
            var fields: HTTPFields = [:]
            /// Seconds that its clock is ahead of ours when it answers, which may be long after the rows were made.
            var clockAhead: Double?
            let wrong: [String]
            let cure: String

            var testDescription: String { name }

            /// So many seconds from now, as a server says it.
            private static func httpDate(_ seconds: Double) -> String {
                let format = DateFormatter()
                format.locale = Locale(identifier: "en_US_POSIX")
                format.timeZone = TimeZone(identifier: "GMT")
                format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
                return format.string(from: Date().addingTimeInterval(seconds))
            }

            var response: Response {
                let body = detail.map { "<Error><Code>\(status)</Code><Detail>\($0)</Detail></Error>" } ?? ""
                var fields = fields
                if let clockAhead { fields[.date] = Self.httpDate(clockAhead) }
                return Response(status: HTTPResponse.Status(code: status), fields: fields, body: Array(body.utf8))
            }
        }

        static let rows = [
            Row(
                name: "no Manage", status: 401, detail: "Manage claim is required for this operation..TrackingId:x",
                wrong: ["key"], cure: "Listen, Send and Manage"),
            Row(name: "403 without a word", status: 403, wrong: ["key"], cure: "Listen, Send and Manage"),
            Row(
                name: "expired", status: 401, detail: "ExpiredToken: .TrackingId:x", wrong: ["key"],
                cure: "timedatectl set-ntp true"),
            Row(
                name: "no such hub", status: 404, detail: "No service is hosted at the specified address.",
                wrong: ["hub"], cure: "hub.name"),
            Row(name: "not a hub", status: 404, wrong: ["hub"], cure: "Endpoint"),
            Row(name: "out of order", status: 500, wrong: ["hub"], cure: "status page"),
            Row(name: "throttled", status: 429, detail: "", fields: [.retryAfter: "9"], wrong: [], cure: "tier"),
            Row(
                name: "a clock ten minutes behind", status: 401, detail: "ExpiredToken: .TrackingId:x",
                clockAhead: 600, wrong: ["clock"], cure: "timedatectl set-ntp true"),
            Row(
                name: "a clock ten minutes ahead", status: 401,
                detail: "InvalidSignature: The token has an invalid signature.",
                clockAhead: -600, wrong: ["clock"], cure: "timedatectl set-ntp true"),
        ]

        @Test(arguments: rows) func `a hub's answer is understood`(row: Row) throws {
            let site = try sharedSite()
            _ = try site.addUser("doctor")
            let folder = try ScratchFolder()
            let hub = try EchoResponder(in: folder) { request in
                request.path == "/health" ? Response() : row.response
            }
            defer { hub.stop() }
            try site.withFrontDoor(FrontDoor.Changes(servesHub: true, sockets: [hub.socket])) { door in
                let file = try site.configuration(
                    replacing: "sb://\(site.hubAuthority)/", with: "sb://localhost:\(door.port)/")
                let diagnosis = try site.diagnose(WireSite.Walk(configuration: file))
                #expect(diagnosis.wrong == row.wrong)
                let step = row.wrong.first ?? "hub"
                #expect(diagnosis.cure(step).contains(row.cure), "\(diagnosis.cure(step))")
            }
        }
    }
}
