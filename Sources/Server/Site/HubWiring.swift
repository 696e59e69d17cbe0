// SPDX-License-Identifier: Apache-2.0
import AppBackend
import BuiltInHub
import Curl
import HTTP
import HubServer
import Logging
import Metrics
import NotificationHub
import Push
import Store
import Text
import WebPush

/// The way to the hub that the configuration names: Azure's over the network, or the built-in one, with what delivers
/// for it.
struct HubWiring {
    let hub: any Hub
    /// The built-in hub's REST face, where it is served to others as well.
    let served: HubServer?
    /// Delivers what the built-in hub has queued; who serves runs it.
    let deliveryWorker: DeliveryWorker?
    /// By which key browsers know this site; nil: none.
    let vapidPublicKey: String?
    /// Platforms whose devices this hub reaches.
    let delivering: Set<Platform>
    /// Whether the hub is in this process, and its queue in the store.
    let isInTheBox: Bool
    private let transport: CurlTransport?
    private let channels: SiteChannels?
    private let client: HubClient?

    /// - Throws: `TransportError`.
    init(_ configuration: SiteConfiguration, store: any SiteStore, metrics: SiteMetrics, logger: Logger) throws {
        self =
            if let connection = configuration.hub.connection {
                try HubWiring(to: connection, configuration, metrics)
            } else {
                try HubWiring(inTheBox: configuration, store, metrics, logger)
            }
    }

    /// Until when the access signature is good that the hub was shown last, in seconds since 1970; nil of the hub in the
    /// box, which is shown none.
    var signatureExpiry: Int64? { client?.signatureExpiry }
    /// Of the certificate that the hub's server showed at the last handshake; nil of the built-in hub.
    var certificateExpiry: Int64? { transport?.certificateExpiry }
    /// Of the first of the authorizations that are kept for push services.
    var authorizationExpiry: Int64? { channels?.webPush?.authorizationExpiry }

    /// Why channels of the configuration are off.
    var channelFaults: [ConfigurationFault] { channels?.faults ?? [] }

    /// The credentials of the push channels.
    var credentials: [PushMetrics.Credential] {
        (deliveryWorker?.allChannels ?? []).map { channel in
            PushMetrics.Credential(
                channel: channel.name, isHeld: channel.hold != nil, isUnavailable: channel.outage?.cause == .token,
                expiry: channels?.expiries[channel.name])
        }
    }

    /// The channels whose messages wait for something that an operator may have to correct.
    var waiting: [HealthController.WaitingChannel] {
        let doubts = (deliveryWorker?.doubts ?? []).map { doubt in
            HealthController.WaitingChannel(
                name: doubt.channel, cause: .app, since: Timestamp(seconds: doubt.since), reason: doubt.reason)
        }
        return doubts
            + (deliveryWorker?.allChannels ?? []).compactMap { channel in
                if let hold = channel.hold {
                    return .init(
                        name: channel.name, cause: .credential, since: Timestamp(seconds: hold.since),
                        reason: hold.reason)
                }
                return channel.outage.map { outage in
                    .init(
                        name: channel.name, cause: outage.cause == .token ? .token : .connection,
                        since: Timestamp(seconds: outage.since), reason: outage.reason)
                }
            }
    }

    /// Nothing more is delivered from now on; returns when what was under way has ended, or after that time. What was
    /// queued waits for the next process.
    func stopDelivering(drain: Duration) {
        deliveryWorker?.loop.stop()
        deliveryWorker?.loop.waitForEnd(drain)
    }

    /// Ends the network's threads; calls in flight fail.
    func close() {
        transport?.close()
        channels?.close()
    }

    private init(
        to connection: ConnectionString, _ configuration: SiteConfiguration, _ metrics: SiteMetrics
    ) throws {
        let transport = try CurlTransport(Self.curlOptions(configuration.hub))
        let client = HubClient(
            connection: connection, hub: configuration.hub.name,
            transport: metrics.hub.measuring(transport as any Responder),
            together: (metrics.hub.measuring(transport as any RequestSender), .seconds(configuration.hub.timeout)),
            now: { Site.now().seconds })
        (hub, self.client) = (client, client)
        (served, deliveryWorker, self.transport, channels) = (nil, nil, transport, nil)
        isInTheBox = false
        vapidPublicKey = configuration.webPush.publicKey
        delivering = Set(configuration.hub.platforms)
    }

    private init(
        inTheBox configuration: SiteConfiguration, _ store: any SiteStore, _ metrics: SiteMetrics, _ logger: Logger
    ) throws {
        let now: @Sendable () -> Int64 = { Site.now().seconds }
        let report: @Sendable (String) -> Void = { logger.warning("\($0)") }
        let channels = try SiteChannels(configuration, metrics: metrics.pushes, now: now, report: report)
        deliveryWorker =
            channels.channels.isEmpty
            ? nil
            : DeliveryWorker(
                store: store, channels: channels.channels, now: now, report: report,
                noteGone: { (id, outcome, isSoStill) throws(StoreError) in
                    try store.noteGone(
                        id.description, reason: outcome.rawValue, now: Site.now(), isAtHub: true, if: isSoStill)
                },
                onRemoved: Self.onRemoved(configuration, store, metrics, logger))
        let localHub = configuration.localHub
        let builtIn = BuiltInHub(
            store: store, worker: deliveryWorker, isShared: localHub.isServed && localHub.isShared, now: now,
            onUnreadable: { logger.warning("hub: \($0)") })
        (hub, client) = (metrics.hub.measuring(builtIn), nil)
        served = localHub.isServed ? Self.server(of: builtIn, configuration, now, logger) : nil
        (transport, self.channels) = (nil, channels)
        vapidPublicKey = channels.webPush?.publicKey
        delivering = channels.platforms
        isInTheBox = true
    }

    private static func server(
        of builtIn: BuiltInHub, _ configuration: SiteConfiguration, _ now: @escaping @Sendable () -> Int64,
        _ logger: Logger
    ) -> HubServer {
        let localHub = configuration.localHub
        var options = HubServer.Options()
        options.isShared = localHub.isShared
        options.registrationsPerMinute = localHub.registrationsPerMinute
        return HubServer(
            builtIn.served, name: configuration.hub.name, keys: localHub.keys, hosts: ["localhost"] + localHub.hosts,
            options: options, now: now,
            report: { logger.warning("hub: \($0)", metadata: ["request": "\($1)"]) },
            onRefused: { logger.info("hub: a signature was refused: \($0)", metadata: ["request": "\($1)"]) })
    }

    private static func onRemoved(
        _ configuration: SiteConfiguration, _ store: any SiteStore, _ metrics: SiteMetrics, _ logger: Logger
    ) -> @Sendable (RegistrationID, Platform) -> Void {
        let webhooks = SiteWebhooks.webhooks(
            configuration.webhooks, store: store, metrics: metrics.webhooks, logger: logger)
        return { id, platform in
            // If it cannot be noted, the sweep notes it.
            try? store.noteRemoved(id.description)
            guard webhooks.tell(of: .deviceRemoved) else { return }
            let owner = (try? store.device(id.description))?.owner
            webhooks.tellRemoval(of: id.description, platform: platform, owner: owner)
        }
    }

    /// Connections to a hub elsewhere. A server allows some 100 calls on each at once, and the next one is opened for more.
    private static let hubConnections = 16
    /// Calls that are under way there at once: 20,000 a second, where an answer takes 50 ms.
    private static let hubTransfers = 1024
    /// Calls that are under way or wait: five of each request that may wait without a worker, and of each worker.
    private static let hubQueue = 16_384

    private static func curlOptions(_ hub: SiteConfiguration.Hub) -> CurlOptions {
        var options = CurlOptions()
        options.timeout = .seconds(hub.timeout)
        options.caFile = hub.caFile
        options.notesCertificate = true
        options.proxy = hub.proxy
        // A page of 100 registrations with their templates.
        options.maximumResponseBytes = 4 << 20
        // A hub on this very host, as tests and tunnels have it; the connection string lets no other be called so.
        options.allowPlainHTTP = hub.connection?.scheme == "http"
        options.userAgent = "app-backend/\(Version.text)"
        (options.maximumConnectionsPerHost, options.maximumTransfers) = (hubConnections, hubTransfers)
        options.maximumQueued = hubQueue
        return options
    }
}
