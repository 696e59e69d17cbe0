// SPDX-License-Identifier: Apache-2.0
import AppBackend
import BuiltInHub
import Metrics
import Store
internal import Text

/// What a site's store and hub say of themselves, read when it is asked for.
struct SiteReadings: Collector {
    private static let writable = MetricName(
        "app_backend_store_writable", "1 if a write to the store succeeds now, otherwise 0.")
    private static let freeBytes = MetricName(
        "app_backend_store_free_bytes",
        "Free space for ordinary users on the file system of the store. Missing for a database.")
    private static let freeFiles = MetricName(
        "app_backend_store_free_files",
        """
        Number of files that can still be created there. Missing for a database, and for a file system without \
        such a limit.
        """)
    private static let queued = MetricName(
        "app_backend_hub_queue_messages",
        """
        Messages of all processes that the built-in hub has not delivered yet. Scheduled messages count when \
        they are due.
        """)
    private static let queuedAge = MetricName(
        "app_backend_hub_queue_oldest_age_seconds", "Age of the oldest of these messages. 0 if there are none.")
    private static let queuedBytes = MetricName(
        "app_backend_hub_queue_bytes",
        """
        Size of the queue. At 16 MiB the hub accepts no more messages (429), and from 8 MiB on no more than 2 \
        MiB of one sender.
        """)

    private static let scheduled = MetricName(
        "app_backend_scheduled_messages", "Scheduled messages of users that are not sent yet, of all processes.")
    private static let overdue = MetricName(
        "app_backend_scheduled_overdue_seconds",
        "Delay of the first scheduled message that is due. 0 if none is. The service tries a message for an hour.")

    private static let signatureExpiry = MetricName(
        "app_backend_hub_signature_expiry_timestamp_seconds",
        """
        End of the last access signature for an external hub. Calls renew it ten minutes before, so a time in \
        the past only means that there was no call.
        """)
    private static let certificateExpiry = MetricName(
        "app_backend_hub_certificate_expiry_timestamp_seconds",
        "End of the certificate of the hub's server, at the last handshake.")
    private static let authorizationExpiry = MetricName(
        "app_backend_web_push_authorization_expiry_timestamp_seconds",
        "End of the first stored authorization for a push service of browsers. Pushes renew it an hour before.")

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
