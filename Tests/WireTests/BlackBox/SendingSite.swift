// SPDX-License-Identifier: Apache-2.0
import Curl
import Support

/// The product with its built-in hub, which pushes to a service of the test's own.
struct SendingSite: PushingSite {
    let backend: BackendProcess
    let door: DoorSite
    let pushes: PushSink
    let secrets = Secrets()

    var authority: String { door.authority }
    var transport: CurlTransport { door.transport }

    /// Runs `body` with a site whose push service takes everything, and ends it.
    /// - Parameter moreKeys: of the configuration; begins with a comma.
    static func run(moreKeys: String = "", _ body: (SendingSite) throws -> Void) throws {
        let scratch = try ScratchFolder()
        try FrontDoor.makeCertificate(in: try scratch.makeFolder("tls"))
        let pushes = try PushSink(certificates: scratch.path("tls"))
        try pushes.start()
        defer { pushes.stop() }
        let keys = """
            "store": { "path": "\(scratch.path("store"))" }, "workers": 8,
            "webPush": { "subject": "mailto:push@example.com", "privateHosts": ["localhost:\(pushes.port)"],
                         "caFile": "\(scratch.path("tls/cert.pem"))", "timeout": 60,
                         "privateKeyFile": "\(scratch.path("vapid.key"))" }\(moreKeys)
            """
        let made = try Program.run(
            Program.appBackend, ["keys", "vapid", "--config", scratch.write("{ \(keys) }", to: "operator.json")])
        guard made.status == 0 else { throw Program.NotCopied(reason: made.errors) }
        let backend = try BackendProcess("sending", in: scratch, keys: keys)
        defer { backend.stop() }
        try DoorSite.run(before: backend.socket, in: scratch) { door in
            try body(SendingSite(backend: backend, door: door, pushes: pushes))
        }
    }

    func run(_ arguments: [String], input: String) throws -> Program.Outcome {
        try Program.run(Program.appBackend, arguments + ["--config", backend.configuration], input: .text(input))
    }
}
