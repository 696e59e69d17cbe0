// SPDX-License-Identifier: Apache-2.0
import Curl
import HTTP
import LocalHub
import Logging
import NotificationHub
import Store
import WebPush

/// The way to the hub that the configuration names: Azure's over the network, or the one in the box, with what delivers
/// for it.
struct HubDoor {
    let client: NotificationHubClient
    /// The local hub, where it is served to others as well.
    let served: LocalNotificationHub?
    /// Delivers what the local hub has queued; who serves runs it.
    let courier: Courier?
    /// By which key browsers know this site; nil: none.
    let vapidPublicKey: String?
    /// Platforms whose devices this hub reaches.
    let delivering: Set<Platform>
    private let transports: [CurlTransport]

    /// - Throws: `TransportError`, `ConfigurationFault` (the key of Web Push): whatever cannot be made.
    init(_ configuration: SiteConfiguration, store: FileStore, logger: Logger) throws {
        self =
            if let connection = configuration.hub.connection {
                try HubDoor(to: connection, configuration)
            } else {
                try HubDoor(inTheBox: configuration, store, logger)
            }
    }

    /// Nothing more is delivered from now on; returns when what was under way has ended, or after that time. What was
    /// queued waits for the next process.
    func stopDelivering(drain: Duration) {
        courier?.stop()
        courier?.waitForEnd(drain)
    }

    /// Ends the network's threads; calls in flight fail.
    func close() {
        for transport in transports { transport.close() }
    }

    private init(to connection: ConnectionString, _ configuration: SiteConfiguration) throws {
        let transport = try CurlTransport(Self.curlOptions(configuration.hub))
        client = NotificationHubClient(
            connection: connection, hub: configuration.hub.name, transport: transport, now: { Site.now().seconds })
        (served, courier, transports) = (nil, nil, [transport])
        vapidPublicKey = configuration.webPush.publicKey
        delivering = Set(configuration.hub.platforms)
    }

    private init(inTheBox configuration: SiteConfiguration, _ store: FileStore, _ logger: Logger) throws {
        let now: @Sendable () -> Int64 = { Site.now().seconds }
        let push = try PushService.make(configuration, now: now)
        courier = push.map { push in
            Courier(
                store: store, drivers: [push.driver], sender: push.transport, now: now,
                report: { logger.warning("\($0)") })
        }
        // The key lives as long as the process: nobody but the client beside the hub ever uses it.
        let key = SharedAccessKey(name: "in-process", key: Secret(Self.randomKey()), rights: .full)
        let connection = try ConnectionString(
            "Endpoint=sb://localhost/;SharedAccessKeyName=\(key.name);SharedAccessKey=\(key.key.reveal())")
        let hub = LocalNotificationHub(
            name: configuration.hub.name, keys: [key] + [configuration.localHub.key].compactMap(\.self),
            hosts: ["localhost"] + configuration.localHub.hosts, store: store, courier: courier, now: now,
            onUnreadable: { logger.warning("hub: \($0)") })
        client = NotificationHubClient(
            connection: connection, hub: configuration.hub.name, transport: hub, now: now)
        served = configuration.localHub.isServed ? hub : nil
        transports = [push?.transport].compactMap(\.self)
        vapidPublicKey = push?.driver.publicKey
        delivering = push == nil ? [] : [.browser]
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
