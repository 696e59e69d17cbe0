// SPDX-License-Identifier: Apache-2.0
import Curl
import DeviceAPI
import Foundation
import Glibc
import HTTP
import JSON
import Support
import Testing

/// The product on a shared host: a home, a web server, several processes on one store, and the built-in hub, which
/// pushes to a service of the test's own.
final class HostedSite: PushingSite {
    let home: HostedHome
    let server: any HostingServer
    let pushes: PushSink
    let secrets = Secrets()
    let transport: CurlTransport
    private let pushTLS: ScratchFolder

    var authority: String { "localhost:\(server.port)" }

    /// Runs `body` with a site, ends the site whatever happens, and then looks for what may not be left: processes of
    /// ours, and secrets in a log.
    /// - Parameters:
    ///   - timeout: how long a call of the test's may take.
    ///   - change: what is otherwise in the home.
    static func run(
        _ make: (HostedHome) throws -> any HostingServer, timeout: Duration = .seconds(120),
        change: (HostedHome) throws -> Void = { _ in }, _ body: (HostedSite) async throws -> Void
    ) async throws {
        let site = try HostedSite(make, timeout: timeout, change: change)
        do {
            try site.server.start()
            try await body(site)
        } catch {
            site.end()
            throw error
        }
        site.end()
        site.expectNothingLeft()
    }

    private init(
        _ make: (HostedHome) throws -> any HostingServer, timeout: Duration, change: (HostedHome) throws -> Void
    ) throws {
        pushTLS = try ScratchFolder()
        try FrontDoor.makeCertificate(in: pushTLS.path)
        pushes = try PushSink(certificates: pushTLS.path)
        home = try HostedHome(
            configuration: """
                "webPush": { "subject": "mailto:push@example.com", "privateHosts": ["localhost:\(pushes.port)"],
                             "caFile": "\(pushTLS.path)/cert.pem", "timeout": 60 },
                "log": { "level": "debug" }
                """)
        try change(home)
        server = try make(home)
        transport = try CurlTransport(
            CurlOptions(
                timeout: timeout, caFile: home.certificates + "/cert.pem", maximumResponseBytes: 1 << 22,
                allowPlainHTTP: true))
        // The certificate is no secret, and the account reads it.
        chmod(pushTLS.path, 0o755)
        chmod(pushTLS.path("cert.pem"), 0o644)
        let made = try home.run(["keys", "vapid"])
        guard made.status == 0 else { throw UserNotAdded(reason: made.errors) }
    }

    private func end() {
        transport.close()
        server.end()
        pushes.stop()
    }

    private func expectNothingLeft() {
        #expect(Deadline.poll(seconds: 60) { home.processes.isEmpty }, "processes survive their web server")
        for id in home.processes { kill(id, SIGKILL) }
        let forms = secrets.forms
        for (name, text) in home.logs() {
            let lower = text.lowercased()
            for form in forms where lower.contains(form) { Issue.record("\(name) holds a secret") }
        }
        // The search has searched something.
        #expect(home.logs().values.contains { $0.contains("listens on standard input") })
    }

    func run(_ arguments: [String], input: String) throws -> Program.Outcome {
        try home.run(arguments, input: input)
    }
}
