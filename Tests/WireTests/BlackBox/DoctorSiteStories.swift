// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Support
import Testing

extension WireTests {
    /// `app-backend doctor` on the way from an app to the service: one thing is broken at a time.
    struct DoctorSiteStories {
        @Test func `a site that is well is said to be well, step by step`() throws {
            let site = try sharedSite()
            _ = try site.addUser("doctor")
            let diagnosis = try site.diagnose()
            #expect(diagnosis.wrong == [])
            let all = ["configuration", "nginx", "socket", "store", "tls", "key", "hub"]
            #expect(diagnosis.steps("ok").filter { $0 != "clock" } == all)
            #expect(diagnosis.steps("skipped") == ["issuers", "push"])
            #expect(diagnosis.found("nginx").contains("good for 8"))
            #expect(diagnosis.found("socket").contains(site.backend.socket))
            #expect(diagnosis.found("hub").contains("outcomes"))

            let lines = try site.run(
                "doctor", "--url", "https://\(site.authority)", "--ca-file", "\(site.certificates)/cert.pem",
                "--timeout", "60")
            #expect(lines.status == 0 && lines.errors.isEmpty)
            for step in all { #expect(lines.output.contains("\nok       \(step) ") || step == "configuration") }
        }

        @Test(arguments: [
            ["--nonsense"], ["--url"], ["--url", "push.example.com"], ["--url", "https://a.example/api"],
            ["--nginx-folder", "/etc/nginx"], ["--socket", "app.sock"], ["--timeout", "0"], ["--timeout", "121"],
        ])
        func `wrong usage is status 2`(arguments: [String]) throws {
            let outcome = try Program.run(Program.appBackend, ["doctor"] + arguments)
            #expect(
                outcome.status == 2 && outcome.output.isEmpty && outcome.errors.contains("Usage: app-backend doctor"))
        }

        @Test func `nginx does not run`() throws {
            let site = try sharedSite()
            _ = try site.addUser("doctor")
            let port = try LoopbackPort()
            let diagnosis = try withExtendedLifetime(port) {
                try site.diagnose(WireSite.Walk(url: "https://localhost:\(port.number)"))
            }
            #expect(diagnosis.wrong == ["nginx"])
            #expect(diagnosis.cure("nginx").contains("systemctl status nginx"))
            #expect(diagnosis.cure("nginx").contains("listen \(port.number) ssl;"))
        }

        /// One edit of nginx's files, what is found then, the directive that is named and where it belongs.
        struct Row: CustomTestStringConvertible, Sendable {
            let name: String
            let edit: FrontDoor.Edit
            let found: String
            let cure: String
            var place = "(`nginx -T` shows where)"

            var testDescription: String { name }
        }

        private static let site = "sites/site.conf"
        private static let snippet = "snippets/app-backend.conf"
        private static let api = "snippets/app-backend-api.conf"
        private static let include = "include snippets/app-backend.conf;"
        private static let location = "location ^~ /api/ {"

        private static func instead(_ text: String) -> FrontDoor.Edit {
            FrontDoor.Edit(file: site, text: include, replacement: text)
        }

        private static func before(_ text: String) -> FrontDoor.Edit {
            FrontDoor.Edit(file: snippet, text: location, replacement: "\(location) \(text)")
        }

        private static func without(_ parameter: String) -> FrontDoor.Edit {
            FrontDoor.Edit(file: api, text: "fastcgi_param \(parameter) ", replacement: "fastcgi_param X ")
        }

        static let rows = [
            Row(name: "snippet not included", edit: instead(""), found: "not known to nginx", cure: include),
            Row(
                name: "a page for everything", edit: instead("location /api/ { return 200 hello; }"),
                found: "something else", cure: include),
            Row(
                name: "a redirect", edit: instead("return 301 https://elsewhere.example$uri;"),
                found: "https://elsewhere.example/api/config", cure: "--url"),
            Row(name: "refused", edit: before("deny all;"), found: "nginx refuses", cure: "deny"),
            Row(
                name: "a password before it", edit: before("auth_basic x; auth_basic_user_file /dev/null;"),
                found: "asks for a password", cure: "auth_basic off;"),
            Row(
                name: "Authorization not passed", edit: without("HTTP_AUTHORIZATION"),
                found: "does not pass Authorization", cure: "fastcgi_param HTTP_AUTHORIZATION $http_authorization",
                place: "/etc/nginx/\(api)"),
        ]

        @Test(arguments: rows) func `nginx is set up wrongly, and the directive is named`(row: Row) throws {
            let site = try sharedSite()
            _ = try site.addUser("doctor")
            let changes = FrontDoor.Changes(sockets: [site.backend.socket], edits: [row.edit], isWell: false)
            try site.withFrontDoor(changes) { door in
                let diagnosis = try site.diagnose(WireSite.Walk(url: "https://localhost:\(door.port)"))
                #expect(diagnosis.wrong == ["nginx"])
                #expect(diagnosis.found("nginx").contains(row.found), "\(diagnosis.found("nginx"))")
                #expect(diagnosis.cure("nginx").contains(row.cure), "\(diagnosis.cure("nginx"))")
                #expect(
                    diagnosis.cure("nginx").contains(row.place), "\(diagnosis.cure("nginx"))")
            }
        }

        @Test(arguments: ["HTTP_COOKIE", "HTTP_IDEMPOTENCY_KEY", "HTTP_APIKEY", "HTTP_APP_BACKEND_USER"])
        func `cookies, keys, or names of users that do not arrive are a warning`(parameter: String) throws {
            let site = try sharedSite()
            _ = try site.addUser("doctor")
            let changes = FrontDoor.Changes(sockets: [site.backend.socket], edits: [Self.without(parameter)])
            try site.withFrontDoor(changes) { door in
                let diagnosis = try site.diagnose(WireSite.Walk(url: "https://localhost:\(door.port)"))
                #expect(diagnosis.wrong == [] && diagnosis.steps("warning").contains("nginx"))
                #expect(diagnosis.cure("nginx").contains("fastcgi_param \(parameter) "))
            }
        }

        @Test func `nginx looks for the service at another socket`() throws {
            let site = try sharedSite()
            _ = try site.addUser("doctor")
            try site.withFrontDoor(FrontDoor.Changes(sockets: ["/nowhere/app-backend.sock"], isWell: false)) { door in
                let diagnosis = try site.diagnose(WireSite.Walk(url: "https://localhost:\(door.port)"))
                #expect(diagnosis.wrong == ["nginx"])
                #expect(diagnosis.cure("nginx").contains("/conf.d/app-backend-upstream.conf"))
            }
        }

        @Test func `the address in the clear is not the one to call`() throws {
            let site = try sharedSite()
            _ = try site.addUser("doctor")
            let diagnosis = try site.diagnose(WireSite.Walk(url: "http://localhost:\(site.door.plainPort)"))
            #expect(diagnosis.wrong == ["nginx"] && diagnosis.cure("nginx").contains("--url https://localhost"))
        }

        @Test func `a certificate that is not trusted, has ended, or is for another name`() throws {
            let site = try sharedSite()
            _ = try site.addUser("doctor")
            let untrusted = try site.diagnose(WireSite.Walk(trustsCertificate: false))
            #expect(untrusted.wrong == ["nginx"] && untrusted.found("nginx").contains("signed by itself"))
            #expect(untrusted.cure("nginx").contains("ssl_certificate"))
            for (certificate, found) in [
                (try DatedCertificate(from: -60, to: -1), "has expired"),
                (try DatedCertificate(from: 2, to: 60), "not valid yet"),
                (try DatedCertificate(name: "other.example", from: -1, to: 60), "other.example"),
            ] {
                let changes = FrontDoor.Changes(sockets: [site.backend.socket], isWell: false)
                try site.withFrontDoor(changes, certificates: certificate.folder.path) { door in
                    var walk = WireSite.Walk(url: "https://localhost:\(door.port)", trustsCertificate: false)
                    walk.more = ["--ca-file", certificate.folder.path("cert.pem")]
                    let diagnosis = try site.diagnose(walk)
                    #expect(diagnosis.wrong == ["nginx"])
                    #expect(diagnosis.found("nginx").contains(found), "\(diagnosis.found("nginx"))")
                }
            }
        }

        @Test(arguments: [
            (20.5, "only good for 20 days"), (5.5, "renew it now"), (0.5, "nothing works when it has ended"),
        ])
        func `a certificate that ends soon is warned of`(days: Double, found: String) throws {
            let site = try sharedSite()
            _ = try site.addUser("doctor")
            let certificate = try DatedCertificate(from: -60, to: days)
            let changes = FrontDoor.Changes(sockets: [site.backend.socket])
            try site.withFrontDoor(changes, certificates: certificate.folder.path) { door in
                var walk = WireSite.Walk(url: "https://localhost:\(door.port)", trustsCertificate: false)
                walk.more = ["--ca-file", certificate.folder.path("cert.pem")]
                let diagnosis = try site.diagnose(walk)
                #expect(
                    diagnosis.wrong == [] && diagnosis.found("nginx").contains(found), "\(diagnosis.found("nginx"))")
                #expect(diagnosis.cure("nginx").contains("certbot renew"))
            }
        }
    }
}
