// SPDX-License-Identifier: Apache-2.0
import Support
import Testing

extension WireTests {
    /// `app-backend doctor` on the way from an app to the service.
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

        /// One thing about nginx that is not as it should be, and what the doctor says then.
        struct Row: CustomTestStringConvertible, Sendable {
            let name: String
            /// Parameters that nginx does not pass on.
            var withheld: [String] = []
            /// Where nginx looks for the service; nil: where it is.
            var socket: String?
            /// The days from today at which nginx's certificate begins and ends; nil: the site's own certificate.
            var term: ClosedRange<Double>?
            var verdict = "wrong"
            /// Parts of the sentences and of the fixes.
            let told: [String]

            var testDescription: String { name }
        }

        private static let api = "snippets/app-backend-api.conf"
        private static let optional = ["HTTP_COOKIE", "HTTP_IDEMPOTENCY_KEY", "HTTP_APIKEY", "HTTP_APP_BACKEND_USER"]

        static let rows: [Row] = [
            Row(
                name: "Authorization does not arrive", withheld: ["HTTP_AUTHORIZATION"],
                told: [
                    "does not pass Authorization", "fastcgi_param HTTP_AUTHORIZATION $http_authorization",
                    "/etc/nginx/\(api)",
                ]),
            Row(
                name: "cookies, keys and names of users do not arrive", withheld: optional, verdict: "warning",
                told: optional.map { "fastcgi_param \($0) " }),
            Row(
                name: "another socket", socket: "/nowhere/app-backend.sock",
                told: ["/conf.d/app-backend-upstream.conf"]),
            Row(name: "a certificate that has ended", term: -60 ... -1, told: ["has expired"]),
            Row(name: "a certificate of the day after tomorrow", term: 2...60, told: ["not valid yet"]),
        ]

        @Test(arguments: rows) func `a fault of nginx's is found, and the directive is named`(row: Row) throws {
            let site = try sharedSite()
            _ = try site.addUser("doctor")
            let certificate = try row.term.map { try DatedCertificate(from: $0.lowerBound, to: $0.upperBound) }
            let edits = row.withheld.map { name in
                FrontDoor.Edit(file: Self.api, text: "fastcgi_param \(name) ", replacement: "fastcgi_param X_\(name) ")
            }
            let changes = FrontDoor.Changes(
                sockets: [row.socket ?? site.backend.socket], edits: edits, isWell: row.verdict != "wrong")
            try site.withFrontDoor(changes, certificates: certificate?.folder.path) { door in
                let diagnosis = try site.diagnose(
                    WireSite.Walk(
                        url: "https://localhost:\(door.port)", trustsCertificate: certificate == nil,
                        more: certificate.map { ["--ca-file", $0.folder.path("cert.pem")] } ?? []))
                let told = diagnosis.found("nginx") + "\n" + diagnosis.cure("nginx")
                #expect(diagnosis.wrong == (row.verdict == "wrong" ? ["nginx"] : []))
                #expect(
                    diagnosis.steps(row.verdict).contains("nginx") && row.told.allSatisfy { told.contains($0) },
                    "\(told)")
            }
        }
    }
}
