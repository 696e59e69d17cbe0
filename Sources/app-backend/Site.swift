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
    private let hub: HubDoor
    /// How long the end waits for pushes that are under way.
    private static let drain = Duration.seconds(6)

    static let now: @Sendable () -> Timestamp = { Timestamp(seconds: Int64(time(nil))) }

    /// - Throws: `StoreError`, `TransportError`, `PasswordHash.Failure`: whatever cannot be opened or made.
    init(
        _ configuration: SiteConfiguration, logger: Logger, authenticator: (any Authenticator)? = nil,
        asOwner: Bool = false,
        load: @escaping @Sendable () -> HealthController.Load = { HealthController.Load() }
    ) throws {
        var configuration = configuration
        // What lies in the folder is then found by its owner's way to it.
        if asOwner { configuration.storePath = try StoreOwner.become(ownerOf: configuration.storePath) }
        let store = try Self.openStore(configuration, asOwner: false) { logger.warning("store: \($0)") }
        let hub = try HubDoor(configuration, store: store, logger: logger)
        let backend = Backend(
            Backend.Parts(
                store: store, notifications: Notifications(hub: hub.client, platforms: configuration.hub.platforms),
                authenticator: try authenticator ?? Self.authenticator(configuration, store),
                policy: configuration.policy, retentionSeconds: Int64(configuration.retentionDays) * 86_400,
                realm: configuration.realm, sessionSeconds: Int64(configuration.sessionHours) * 3_600,
                publicConfiguration: PublicConfiguration(
                    vapidPublicKey: hub.vapidPublicKey, deliveringPlatforms: hub.delivering),
                now: Self.now, load: load, logger: logger))
        self.store = store
        self.backend = backend
        self.hub = hub
        responder = hub.served.map { HubBeside(name: configuration.hub.name, hub: $0, backend: backend) } ?? backend
    }

    /// Starts delivering what the local hub has queued, where it has anything to deliver with.
    /// - Throws: `ServerError.noThread`.
    func startDelivering() throws(ServerError) {
        guard let courier = hub.courier else { return }
        try PlatformThread.start { courier.run() }
    }

    /// Ends what the site has running; calls in flight fail.
    func close() {
        hub.close(drain: Self.drain)
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
