// SPDX-License-Identifier: Apache-2.0
import Curl
import DeviceAPI
import Foundation
import NotificationHub
import Support
import Testing

/// Two hosts on one database: each has an nginx and a responder of its own, with the built-in hub, and they share no
/// file. The push service is one of the test's.
final class TwinHosts: Sendable {
    /// One of the two.
    final class Host: PushingSite {
        let backend: BackendProcess
        let door: FrontDoor
        let pushes: PushSink
        let secrets: Secrets
        let transport: CurlTransport

        var authority: String { "localhost:\(door.port)" }

        fileprivate init(
            _ name: String, keys: String, _ scratch: ScratchFolder, _ pushes: PushSink, _ secrets: Secrets
        ) throws {
            backend = try BackendProcess(name, in: scratch, keys: keys)
            (self.pushes, self.secrets) = (pushes, secrets)
            do {
                door = try FrontDoor(
                    FrontDoor.Changes(sockets: [backend.socket]), certificates: scratch.path("tls"),
                    folder: scratch.path("\(name)-nginx"))
                transport = try CurlTransport(
                    CurlOptions(
                        timeout: .seconds(120), caFile: scratch.path("tls/cert.pem"), maximumResponseBytes: 1 << 22))
            } catch {
                backend.stop()
                throw error
            }
        }

        func run(_ arguments: [String], input: String) throws -> Program.Outcome {
            try Program.run(Program.appBackend, arguments + ["--config", backend.configuration], input: .text(input))
        }

        fileprivate func end() {
            transport.close()
            door.stop()
            backend.signal(SIGCONT)
            backend.stop()
        }
    }

    let server: PostgresServer
    /// Of the database, as its owner.
    let url: String
    let pushes: PushSink
    let secrets = Secrets()
    let first: Host
    let second: Host
    private let scratch: ScratchFolder

    var both: [Host] { [first, second] }

    /// Runs `body` with both hosts, ends them whatever happens, and looks for secrets in what they have written.
    /// - Parameter server: nil: the one that all tests share.
    static func run(_ server: PostgresServer? = nil, _ body: (TwinHosts) throws -> Void) throws {
        let twins = try TwinHosts(server ?? PostgresServer.shared.get())
        do {
            try body(twins)
        } catch {
            twins.end()
            throw error
        }
        twins.end()
        twins.expectSilence()
    }

    private init(_ server: PostgresServer) throws {
        self.server = server
        scratch = try ScratchFolder()
        try FrontDoor.makeCertificate(in: try scratch.makeFolder("tls"))
        pushes = try PushSink(certificates: scratch.path("tls"))
        // A password that the server does not ask for, to be looked for in what is written.
        let password = secrets.make("database-password-")
        let database = try server.makeDatabase()
        url = database
        let url = database.replacing("://app@", with: "://app:\(password)@")
        let keys = """
            "store": { "url": "\(url)" }, "workers": 16, "log": { "level": "debug" },
            "webPush": { "subject": "mailto:push@example.com", "privateHosts": ["localhost:\(pushes.port)"],
                         "caFile": "\(scratch.path("tls/cert.pem"))", "timeout": 60, "privateKeyFile": "\(scratch.path("vapid.key"))" }
            """
        let operators = try scratch.write("{ \(keys) }", to: "operator.json")
        for command in [["store", "migrate"], ["keys", "vapid"]] {
            let outcome = try Program.run(Program.appBackend, command + ["--config", operators])
            guard outcome.status == 0 else { throw Program.NotCopied(reason: outcome.errors) }
        }
        first = try Host("first", keys: keys, scratch, pushes, secrets)
        do {
            second = try Host("second", keys: keys, scratch, pushes, secrets)
        } catch {
            first.end()
            throw error
        }
    }

    private func end() {
        both.forEach { $0.end() }
        pushes.stop()
    }

    private func expectSilence() {
        let forms = secrets.forms
        for host in both {
            let log = host.backend.log
            #expect(log.contains("listens on"))
            let lower = log.lowercased()
            for form in forms where lower.contains(form) { Issue.record("\(host.backend.name) wrote a secret") }
        }
    }
}
