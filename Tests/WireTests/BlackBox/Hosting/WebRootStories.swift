// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import Foundation
import Glibc
import HTTP
import HTTPTypes
import Support
import Testing

extension HostingTests {
    /// What is below the web root, and what must never be served from there. nginx, before multiwatch, serves a folder of
    /// its own.
    @Suite(.serialized)
    struct WebRootStories {
        private static let kinds = HostingKind.installed.filter { $0 != .multiwatch }

        /// Files of ours where no file of ours should be.
        private static let misplaced = [
            "app-backend.json", "vapid.key", "store/store.json", "store/users.jsonl", "store/vapid.key",
            "store/notifications/3f.jsonl", "app-backend.log", "multiwatch.sh", ".env", "old/store/users.jsonl",
        ]
        private static let marker = "found-what-is-nobodys-business"

        /// Ways to one of them that are not its own path.
        private static let detours = [
            "/./app-backend.json", "//app-backend.json", "/js/../app-backend.json", "/app-backend%2ejson",
            "/%61pp-backend.json", "/app-backend.json/", "/app-backend.json?x", "/openapi.json/../app-backend.json",
            "/api/../app-backend.json",
            "/store%2fusers.jsonl", "/STORE/users.jsonl", "/.htaccess", "/%2ehtaccess",
            "/app-backend.fcgi/../vapid.key",
            "/api/%2e%2e/vapid.key", "/store", "/store/", "/old/", "/js/",
        ]

        @Test(arguments: kinds)
        func `nothing of ours is served as a file, wherever it was put by mistake`(_ kind: HostingKind) async throws {
            try await HostedSite.run(kind.makeServer) { home in
                for folder in ["store/notifications", "old/store"] { try home.makeFolder("public_html/" + folder) }
                for file in Self.misplaced { try home.write(Self.marker, to: "public_html/" + file) }
                for file in Self.misplaced { chmod("\(home.web)/\(file)", 0o644) }
            } _: { site in
                for path in Self.misplaced.map({ "/" + $0 }) + Self.detours {
                    let answer = try Self.fetch(path, site)
                    #expect(["403", "404", "400"].contains(answer.status), "\(path): \(answer.status)")
                    #expect(!answer.text.contains(Self.marker) && !answer.text.contains("RewriteRule"), "\(path)")
                }
                #expect(try site.call(.get, Path.config).status == .ok)
            }
        }

        @Test(arguments: kinds)
        func `the script is started, not shown, and not by its name`(_ kind: HostingKind) async throws {
            try await HostedSite.run(kind.makeServer) { site in
                for path in [
                    "/app-backend.fcgi", "/app-backend.fcgi/api/register", "/app-backend.fcgi/health",
                    "//app-backend.fcgi", "/./app-backend.fcgi", "/app-backend%2efcgi", "/js/../app-backend.fcgi",
                ] {
                    let answer = try Self.fetch(path, site)
                    #expect(["403", "404"].contains(answer.status), "\(path): \(answer.status)")
                    #expect(!answer.text.contains("exec"), "\(path)")
                }
                #expect(try site.call(.get, Path.config).status == .ok)
            }
        }

        @Test(arguments: kinds)
        func `health and metrics are closed to all clients, neighbours included`(_ kind: HostingKind) async throws {
            try await HostedSite.run(kind.makeServer) { site in
                for path in [
                    "/health", "/metrics", "//health", "/./health", "/api/../health", "/api/%2e%2e/health",
                    "/api/..%2fhealth", "/api/%2e%2e%2fmetrics", "/health/", "/HEALTH", "/app-backend.fcgi/../health",
                    "/api//../metrics", "/api/./../health",
                ] {
                    let answer = try Self.fetch(path, site)
                    #expect(["403", "404", "400", "401"].contains(answer.status), "\(path): \(answer.status)")
                    #expect(!answer.text.contains("workers"), "\(path)")
                }
                #expect(try site.call(.get, Path.config).status == .ok)
            }
        }

        @Test(arguments: kinds)
        func `the page is there as its scripts and browsers need it`(_ kind: HostingKind) async throws {
            try await HostedSite.run(kind.makeServer) { site in
                for (path, type) in [
                    ("/", "text/html"), ("/js/api.js", "text/javascript"), ("/sw.js", "text/javascript"),
                    ("/style.css", "text/css"), ("/icon.svg", "image/svg+xml"),
                    ("/manifest.webmanifest", "application/manifest+json"), ("/openapi.json", "application/json"),
                ] {
                    let answer = try site.call(.get, path)
                    #expect(answer.status == .ok && answer.fields[.contentType]?.hasPrefix(type) == true, "\(path)")
                    #expect(answer.fields[.cacheControl] == "no-cache")
                    #expect(answer.fields[.contentSecurityPolicy]?.hasPrefix("default-src 'none'; ") == true)
                    #expect(answer.fields[.strictTransportSecurity] != nil)
                }
                let answer = try site.call(.get, Path.config)
                #expect(answer.status == .ok && answer.fields[.xContentTypeOptions] == "nosniff")
            }
        }

        /// GET by curl, which leaves the path as it is.
        private static func fetch(_ path: String, _ site: HostedSite) throws -> (status: String, text: String) {
            let run = try Program.run(
                "/usr/bin/curl",
                [
                    "--silent", "--path-as-is", "--cacert", site.home.certificates + "/cert.pem", "--write-out",
                    "\n%{http_code}", "https://\(site.authority)\(path)",
                ])
            let lines = run.output.split(separator: "\n", omittingEmptySubsequences: false)
            return (String(lines.last ?? ""), lines.dropLast().joined(separator: "\n"))
        }
    }
}
