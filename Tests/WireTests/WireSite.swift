// SPDX-License-Identifier: Apache-2.0
import Curl
import DeviceAPI
import Foundation
import NotificationHub
import Support
import Testing
import Text

/// The whole product as it is installed: nginx with TLS, the responder behind it, and, reached by libcurl through an
/// nginx of its own, a hub that is another responder.
///
/// Tests that share a site have users of their own.
final class WireSite: Sendable {
    /// How a site differs from the usual one.
    struct Options {
        var workers = 16
        /// Responders on one store, behind one upstream.
        var backends = 1
        /// Whether the responder is handed its socket, as systemd does it.
        var isHandedSocket = false
        var layout = FrontDoor.Layout.site
        /// What is other than shipped in the files of the backend's nginx.
        var edits: [FrontDoor.Edit] = []
        /// Seconds that the backend waits for the hub.
        var hubTimeout = 30
        /// More members of the backend's configuration; each ends with a comma.
        var keys = ""
        /// The key that the backend believes to be the hub's; nil: the right one.
        var hubKey: String?
    }

    /// The hub's name, the first segment of its paths.
    static let hubName = "wire-hub"

    let scratch: ScratchFolder
    let secrets = Secrets()
    let hubKey: SharedAccessKey
    let hub: BackendProcess
    let hubDoor: FrontDoor
    let backends: [BackendProcess]
    let door: FrontDoor
    /// What the devices reach the site through.
    let transport: CurlTransport

    var backend: BackendProcess { backends[0] }
    var certificates: String { scratch.path("tls") }
    var store: String { scratch.path("store") }
    var authority: String { "localhost:\(door.port)" }
    var hubAuthority: String { "localhost:\(hubDoor.port)" }

    /// Runs `body` with a site, ends the site whatever happens, and then searches what it has written for the secrets
    /// that were used.
    static func run(_ options: Options = Options(), _ body: (WireSite) async throws -> Void) async throws {
        let site = try WireSite(options)
        do {
            try await body(site)
        } catch {
            site.stop()
            throw error
        }
        // One call more, so that there is a line in every log, whichever tests were chosen.
        _ = try? site.call(.get, Path.register)
        site.stop()
        try site.expectSilence()
    }

    private init(_ options: Options) throws {
        scratch = try ScratchFolder()
        hubKey = SharedAccessKey(
            name: "DefaultFullSharedAccessSignature", key: Secret(secrets.make("hub-key-that-is-long-enough-")),
            rights: .full)
        try FrontDoor.makeCertificate(in: try scratch.makeFolder("tls"))
        var started: [any Stoppable] = []
        do {
            hub = try BackendProcess("hub", in: scratch, keys: Self.hubKeys(hubKey, scratch))
            started.append(hub)
            hubDoor = try FrontDoor(
                FrontDoor.Changes(servesHub: true, sockets: [hub.socket]), certificates: scratch.path("tls"),
                folder: scratch.path("hub-nginx"))
            started.append(hubDoor)
            let keys = Self.backendKeys(options, key: options.hubKey ?? hubKey.key.reveal(), hubDoor, scratch)
            var backends: [BackendProcess] = []
            for number in 1...options.backends {
                let backend = try BackendProcess(
                    "backend\(number)", in: scratch, isHandedSocket: options.isHandedSocket, keys: keys)
                started.append(backend)
                backends.append(backend)
            }
            self.backends = backends
            let changes = FrontDoor.Changes(
                layout: options.layout, sockets: backends.map(\.socket), edits: options.edits)
            door = try FrontDoor(changes, certificates: scratch.path("tls"), folder: scratch.path("nginx"))
            started.append(door)
            transport = try CurlTransport(
                CurlOptions(
                    timeout: .seconds(120), caFile: scratch.path("tls/cert.pem"), maximumResponseBytes: 1 << 22,
                    allowPlainHTTP: true))
        } catch {
            started.reversed().forEach { $0.end() }
            throw error
        }
        if let key = options.hubKey { secrets.add(key) }
    }

    private static func hubKeys(_ key: SharedAccessKey, _ scratch: ScratchFolder) -> String {
        """
        "store": { "path": "\(scratch.path("hub-store"))" }, "hub": { "name": "\(hubName)" }, "workers": 16,
        "localHub": { "serve": true, "keyName": "\(key.name)", "key": "\(key.key.reveal())" },
        "log": { "level": "debug" }
        """
    }

    private static func backendKeys(
        _ options: Options, key: String, _ hubDoor: FrontDoor, _ scratch: ScratchFolder
    ) -> String {
        let connection =
            "Endpoint=sb://localhost:\(hubDoor.port)/;SharedAccessKeyName=DefaultFullSharedAccessSignature;SharedAccessKey=\(key)"
        return """
            \(options.keys) "store": { "path": "\(scratch.path("store"))" }, "workers": \(options.workers),
            "hub": { "connectionString": "\(connection)", "name": "\(hubName)",
                     "caFile": "\(scratch.path("tls/cert.pem"))", "timeout": \(options.hubTimeout) },
            "limits": { "drainSeconds": 60 }, "log": { "level": "debug" }
            """
    }

    private func stop() {
        transport.close()
        door.stop()
        backends.forEach { $0.stop() }
        hubDoor.stop()
        hub.stop()
    }
}

/// What a site that could not be made whole has to end.
private protocol Stoppable {
    func end()
}

extension BackendProcess: Stoppable {
    fileprivate func end() { stop() }
}

extension FrontDoor: Stoppable {
    fileprivate func end() { stop() }
}
