// SPDX-License-Identifier: Apache-2.0
import AppBackend
import Curl
import FastCGI
import HTTP
import Logging
import Metrics
import NotificationHub
import Store

/// What tells the receivers of the configuration.
struct SiteWebhooks {
    /// The longest that one try may take; as Standard Webhooks proposes it.
    private static let timeout = Duration.seconds(15)
    /// Of an answer nothing but its status is read.
    private static let maximumResponseBytes = 64 << 10

    let webhooks: Webhooks
    private let worker: WebhookWorker
    private let transport: CurlTransport

    /// - Returns: nil, where there are no receivers.
    /// - Throws: `TransportError`.
    init?(
        _ receivers: [SiteConfiguration.Webhook], store: any SiteStore, hub: any Hub, metrics: WebhookMetrics,
        logger: Logger
    ) throws {
        guard !receivers.isEmpty else { return nil }
        webhooks = Self.webhooks(receivers, store: store, metrics: metrics, logger: logger)
        transport = try CurlTransport(
            CurlOptions(
                timeout: Self.timeout,
                addresses: .publicOnly(except: Set(receivers.filter(\.isPrivate).map(\.hostAndPort))),
                userAgent: "app-backend/\(Version.text)", maximumResponseBytes: Self.maximumResponseBytes,
                allowPlainHTTP: receivers.contains(where: \.isPlain)))
        worker = WebhookWorker(webhooks, store: store, hub: hub, sender: transport)
    }

    /// What keeps events for the receivers; who delivers them is another matter.
    static func webhooks(
        _ receivers: [SiteConfiguration.Webhook], store: any WaitingStore, metrics: WebhookMetrics, logger: Logger
    ) -> Webhooks {
        Webhooks(
            receivers.map(\.endpoint), queue: store, counter: metrics, now: Site.now,
            report: { logger.warning("\($0)") })
    }

    /// Events that wait, as far as this process delivers them.
    var waiting: Int { worker.waiting }

    /// - Throws: `ServerError.noThread`.
    func start() throws(ServerError) {
        try PlatformThread.start { [worker] in worker.run() }
    }

    func stop(drain: Duration) {
        worker.loop.stop()
        worker.loop.waitForEnd(drain)
    }

    func close() { transport.close() }
}
