// SPDX-License-Identifier: Apache-2.0
import AppBackend
import Curl
import FastCGI
import Glibc
import HTTP
import LocalHub
import Logging
import NotificationHub
import Store

/// All rooms, introduced to each other as the configuration says.
struct Site {
    let store: FileStore
    let backend: Backend
    /// What answers requests: the backend, and the local hub where it is served to others.
    let responder: any Responder
    private let transport: CurlTransport?

    static let now: @Sendable () -> Timestamp = { Timestamp(seconds: Int64(time(nil))) }

    /// - Throws: `StoreError`, `TransportError`, `PasswordHash.Failure`: whatever cannot be opened or made.
    init(
        _ configuration: SiteConfiguration, logger: Logger, authenticator: (any Authenticator)? = nil,
        asOwner: Bool = false,
        load: @escaping @Sendable () -> HealthController.Load = { HealthController.Load() }
    ) throws {
        let store = try Self.openStore(configuration, asOwner: asOwner) { logger.warning("store: \($0)") }
        let hub: any Responder
        let connection: ConnectionString
        var served: LocalNotificationHub?
        if let external = configuration.hub.connection {
            connection = external
            let transport = try CurlTransport(Self.curlOptions(configuration.hub))
            hub = transport
            self.transport = transport
        } else {
            // The key lives as long as the process: nobody but the client beside the hub ever uses it.
            let key = SharedAccessKey(name: "in-process", key: Secret(Self.randomKey()), rights: .full)
            connection = try ConnectionString(
                "Endpoint=sb://localhost/;SharedAccessKeyName=\(key.name);SharedAccessKey=\(key.key.reveal())")
            let local = LocalNotificationHub(
                name: configuration.hub.name, keys: [key] + [configuration.localHub.key].compactMap(\.self),
                hosts: ["localhost"] + configuration.localHub.hosts, store: store, now: { Self.now().seconds },
                onUnreadable: { logger.warning("hub: \($0)") })
            hub = local
            served = configuration.localHub.isServed ? local : nil
            transport = nil
        }
        let client = NotificationHubClient(
            connection: connection, hub: configuration.hub.name, transport: hub, now: { Self.now().seconds })
        let backend = Backend(
            Backend.Parts(
                store: store, notifications: Notifications(hub: client, platforms: configuration.hub.platforms),
                authenticator: try authenticator ?? Self.authenticator(configuration, store),
                policy: configuration.policy, retentionSeconds: Int64(configuration.retentionDays) * 86_400,
                realm: configuration.realm, now: Self.now, load: load, logger: logger))
        self.store = store
        self.backend = backend
        responder = served.map { HubBeside(name: configuration.hub.name, hub: $0, backend: backend) } ?? backend
    }

    /// Ends what the site has running; calls in flight fail.
    func close() {
        transport?.close()
    }

    /// - Parameters:
    ///   - asOwner: for commands, which root may run beside a service that is not root's.
    ///   - report: hears what the operator should know of the store's files.
    static func openStore(
        _ configuration: SiteConfiguration, asOwner: Bool, report: @escaping @Sendable (StoreEvent) -> Void
    ) throws(StoreError) -> FileStore {
        var options = FileStore.Options()
        options.onEvent = report
        let path = asOwner ? try StoreOwner.become(ownerOf: configuration.storePath) : configuration.storePath
        return try FileStore.open(path: path, options: options)
    }

    private static func authenticator(
        _ configuration: SiteConfiguration, _ store: FileStore
    ) throws -> any Authenticator {
        switch configuration.authenticationMethod {
        case .users: try UserAuthenticator(store: store, now: now)
        case .test: AuthenticationTestHandler()
        }
    }

    private static func curlOptions(_ hub: SiteConfiguration.Hub) -> CurlOptions {
        var options = CurlOptions()
        options.timeout = .seconds(hub.timeout)
        options.caFile = hub.caFile
        options.proxy = hub.proxy
        // A page of 100 registrations with their templates.
        options.maximumResponseBytes = 4 << 20
        options.userAgent = "app-backend/\(Version.text)"
        return options
    }

    private static func randomKey() -> String {
        (0..<4).map { _ in String(UInt64.random(in: .min ... .max), radix: 16) }.joined(separator: "-")
    }
}

/// Serves the local hub under `/<name>/`, and the backend under everything else.
private struct HubBeside: Responder {
    let name: String
    let hub: LocalNotificationHub
    let backend: Backend

    func respond(to request: Request) -> Response {
        let first = request.path.split(separator: "/", maxSplits: 1).first.map(String.init) ?? ""
        guard ASCII.equalIgnoringCase(first, name) else { return backend.respond(to: request) }
        return hub.respond(to: request)
    }
}
