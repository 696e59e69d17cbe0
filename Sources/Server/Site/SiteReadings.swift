// SPDX-License-Identifier: Apache-2.0
import AppBackend
import BuiltInHub
import Metrics
import Store
internal import Text

/// What a site's store and hub say of themselves, read when it is asked for.
struct SiteReadings: Collector {
    private static let writable = MetricName(
        "app_backend_store_writable", "1 when the store can be written, 0 when it cannot.")
    private static let freeBytes = MetricName(
        "app_backend_store_free_bytes", "Room on the file system of the store's folder.")
    private static let freeFiles = MetricName(
        "app_backend_store_free_files", "Files that can still be made there, where the file system has such a limit.")
    private static let queued = MetricName(
        "app_backend_hub_queue_messages", "Messages that the built-in hub has not delivered yet.")
    private static let queuedAge = MetricName(
        "app_backend_hub_queue_oldest_age_seconds", "How long the oldest of them has waited; 0 when none waits.")
    private static let queuedBytes = MetricName(
        "app_backend_hub_queue_bytes", "Size of the file they wait in; it takes no more than 16 MiB.")

    private static let scheduled = MetricName(
        "app_backend_scheduled_messages", "Users' messages for later that are not sent yet.")
    private static let overdue = MetricName(
        "app_backend_scheduled_overdue_seconds",
        "For how long the one whose time came first should have been sent; 0 when none should.")

    private static let signatureExpiry = MetricName(
        "app_backend_hub_signature_expiry_timestamp_seconds",
        "Until when the access signature is good that the hub was shown last; calls renew it.")
    private static let certificateExpiry = MetricName(
        "app_backend_hub_certificate_expiry_timestamp_seconds",
        "Until when the certificate is good that the hub's server showed at the last handshake.")
    private static let authorizationExpiry = MetricName(
        "app_backend_web_push_authorization_expiry_timestamp_seconds",
        "When the first authorization ends that is kept for a push service; pushes renew it.")

    let store: any SiteStore
    /// The store's; `nil` if the store is a database.
    let folder: String?
    let hub: HubWiring
    let webhooks: SiteWebhooks?
    /// Seconds since 1970.
    let now: @Sendable () -> Int64

    func collect(into exposition: inout Exposition) {
        exposition.gauge(Self.writable, store.health() == .writable)
        if let free = folder.flatMap(FreeSpace.init(path:)) {
            exposition.gauge(Self.freeBytes, free.bytes)
            if let inodes = free.inodes { exposition.gauge(Self.freeFiles, inodes) }
        }
        let expiries = [
            (Self.signatureExpiry, hub.signatureExpiry), (Self.certificateExpiry, hub.certificateExpiry),
            (Self.authorizationExpiry, hub.authorizationExpiry),
        ]
        for (name, expiry) in expiries {
            // Of what is not there nothing is said: 0 would have expired in 1970.
            if let expiry { exposition.gauge(name, expiry) }
        }
        PushMetrics.collect(hub.credentials, into: &exposition)
        if hub.isInTheBox { collectQueue(into: &exposition) }
        collectSchedule(into: &exposition)
        if let webhooks { WebhookMetrics.collect(waiting: webhooks.waiting, into: &exposition) }
    }

    /// For administrators.
    func status(_ metrics: SiteMetrics) -> SiteStatus {
        var status = SiteStatus()
        status.isHubBuiltIn = hub.isInTheBox
        status.startedAt = Timestamp(seconds: Int64(metrics.startedAt))
        if hub.isInTheBox { status.queue = try? store.hubQueueBacklog(now: Timestamp(seconds: now())) }
        status.sends = metrics.hub.sends.map { SiteStatus.Count(outcome: $0.result, count: $0.count) }
        status.pushes = metrics.pushes.counts.map {
            SiteStatus.Count(platform: $0.platform.rawValue, outcome: $0.outcome, count: $0.count)
        }
        status.hours = metrics.history.hours(metrics.pushes, now: now()).map { hour in
            SiteStatus.Hour(
                beganAt: Timestamp(seconds: hour.beganAt), platform: hour.platform.rawValue, taken: hour.taken,
                failed: hour.failed)
        }
        return status
    }

    private func collectSchedule(into exposition: inout Exposition) {
        do throws(StoreError) {
            let backlog = try SendSchedule(store: store).backlog()
            exposition.gauge(Self.scheduled, backlog.messages)
            exposition.gauge(Self.overdue, backlog.oldest.map { max(0, now() - $0.seconds) } ?? 0)
        } catch {}
    }

    /// A queue that cannot be read is not an empty one: then there are no numbers, and `absent()` shows it.
    private func collectQueue(into exposition: inout Exposition) {
        do throws(StoreError) {
            let backlog = try store.hubQueueBacklog(now: Timestamp(seconds: now()))
            exposition.gauge(Self.queued, backlog.messages)
            let age = backlog.oldest.map { max(0, now() - $0.seconds) } ?? 0
            exposition.gauge(Self.queuedAge, age)
            exposition.gauge(Self.queuedBytes, backlog.bytes)
        } catch {}
    }
}
