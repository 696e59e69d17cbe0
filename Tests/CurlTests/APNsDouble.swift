// SPDX-License-Identifier: Apache-2.0
import APNs
import Crypto
import Curl
import Foundation
import HTTP
import JSON
import NotificationHub
import Support
import Text

/// The stand-in for APNs (`Tests/Doubles/apns.py`), which runs as long as this is there.
final class APNsDouble: Sendable {
    static let keyID = "ABC123DEFG"
    static let teamID = "DEF123GHIJ"
    static let topic = "com.example.app"

    /// A line of the stand-in's journal.
    struct Event {
        let json: JSONValue

        var name: String { json["event"]?.string ?? "" }
        var connection: Int { json["connection"]?.integer ?? 0 }
        var device: String { json["device"]?.string ?? "" }
        var token: String? { json["token"]?.string }
        var status: Int { json["status"]?.integer ?? 0 }
    }

    struct NotStarted: Error { let log: String }

    let folder: ScratchFolder
    let port: Int
    let key: APNsKey
    private let process: ChildProcess

    /// - Parameters:
    ///   - goAwayAt: how many pushes of the kind `c005` come before GOAWAY.
    ///   - goAwayAnswered: how many of those are answered.
    init(goAwayAt: Int = 0, goAwayAnswered: Int = 0) throws {
        let folder = try ScratchFolder()
        self.folder = folder
        let pair = P256.Signing.PrivateKey()
        key = try APNsKey(pem: Secret(pair.pemRepresentation), keyID: Self.keyID, teamID: Self.teamID)
        try Self.makeCertificate("server", in: folder.path)
        try Self.makeCertificate("client", in: folder.path)
        var site = JSONWriter()
        site.object { site in
            site.member("certificate", folder.path + "/server.pem")
            site.member("privateKey", folder.path + "/server.key")
            site.member("clientAuthority", folder.path + "/client.pem")
            site.member("environment", "production")
            site.name("topics")
            site.array { $0.string(Self.topic) }
            site.member("streams", 1000)
            site.member("goAwayAt", goAwayAt)
            site.member("goAwayAnswered", goAwayAnswered)
            site.name("keys")
            site.object { keys in
                keys.name(Self.keyID)
                keys.object { key in
                    key.member("team", Self.teamID)
                    key.member("public", pair.publicKey.pemRepresentation)
                    key.member("environment", "both")
                }
            }
        }
        try Data(site.bytes).write(to: URL(filePath: folder.path + "/site.json"))
        let journal = folder.path + "/journal"
        let log = folder.path + "/log"
        let program = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Doubles/apns.py").path
        // Debian's Python, which has Debian's packages; another one may stand before it in the path.
        let process = try ChildProcess(
            "/usr/bin/python3", ["-B", program, folder.path + "/site.json", journal], output: log, errors: log)
        self.process = process
        Deadline.poll(seconds: Patience.seconds) {
            process.exitStatus != nil || Self.events(journal).contains { $0.name == "listening" }
        }
        guard let port = Self.events(journal).first?.json["port"]?.integer else {
            process.stop()
            throw NotStarted(log: (try? String(contentsOfFile: log, encoding: .utf8)) ?? "")
        }
        self.port = port
    }

    deinit { process.stop() }

    /// What happened, in its order; a line that is being written is left out.
    var events: [Event] { Self.events(folder.path + "/journal") }

    func events(_ name: String) -> [Event] { events.filter { $0.name == name } }

    /// As `events(_:)`, when there are as many at last.
    func events(_ name: String, atLeast count: Int) -> [Event] {
        Deadline.poll(seconds: Patience.seconds) { events(name).count >= count }
        return events(name)
    }

    private static func events(_ journal: String) -> [Event] {
        guard let text = try? String(contentsOfFile: journal, encoding: .utf8) else { return [] }
        return text.split(separator: "\n").compactMap { line in
            (try? JSONValue(parsing: Array(line.utf8))).map(Event.init)
        }
    }

    /// As the integrator of a hub sets them.
    func options(timeout: Duration = Patience.duration) -> CurlOptions {
        var options = CurlOptions(
            timeout: timeout, connectTimeout: Patience.duration, caFile: folder.path + "/server.pem",
            maximumConnectionsPerHost: 1, maximumQueued: 4096)
        options.maximumIdleSeconds = 3600
        options.maximumStreams = 1000
        options.maximumResends = 0
        return options
    }

    func driver(_ port: Int) throws -> APNsDriver {
        guard let authority = Authority("localhost:\(port)") else { throw NotStarted(log: "port") }
        return APNsDriver(topic: Self.topic, authority: authority, now: { Int64(Date().timeIntervalSince1970) })
    }

    /// A self-signed certificate for `localhost`, which is its own authority, in `<name>.pem` and `<name>.key`.
    private static func makeCertificate(_ name: String, in folder: String) throws {
        let made = try ChildProcess(
            "/usr/bin/openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", "\(folder)/\(name).key",
                "-out", "\(folder)/\(name).pem",
            ])
        guard made.wait(seconds: Patience.seconds) == 0 else { throw NotStarted(log: "openssl") }
    }
}
