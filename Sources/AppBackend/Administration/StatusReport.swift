// SPDX-License-Identifier: Apache-2.0
import JSON
package import Store
package import Text

/// What a site knows of itself beside its store: for `GET /api/admin/status`.
package struct SiteStatus: Sendable {
    /// So often a push service, or the hub, has said that since the start.
    package struct Count: Sendable {
        /// Of pushes; empty of calls to the hub.
        package let platform: String
        package let outcome: String
        package let count: UInt64

        package init(platform: String = "", outcome: String, count: UInt64) {
            (self.platform, self.outcome, self.count) = (platform, outcome, count)
        }
    }

    /// What push services have said in one hour, on one platform.
    package struct Hour: Sendable {
        package let beganAt: Timestamp
        package let platform: String
        /// Tries that they have taken.
        package let taken: UInt64
        package let failed: UInt64

        package init(beganAt: Timestamp, platform: String, taken: UInt64, failed: UInt64) {
            (self.beganAt, self.platform, self.taken, self.failed) = (beganAt, platform, taken, failed)
        }
    }

    /// Whether the hub is in this process; else it is Azure's.
    package var isHubBuiltIn = true
    /// When this process began to count.
    package var startedAt = Timestamp(seconds: 0)
    /// What waits to be delivered; nil of a hub elsewhere, and of a queue that cannot be read.
    package var queue: QueueBacklog?
    /// Sends that the hub was handed, by its answer.
    package var sends: [Count] = []
    /// Tries to push to one device.
    package var pushes: [Count] = []
    /// The hours of the last day in which this process has pushed, the oldest first.
    package var hours: [Hour] = []

    package init() {}
}

/// `GET /api/admin/status`: what `/health` and `/metrics` tell monitors, for a person. No user is named.
struct StatusReport: Sendable {
    let store: any StateStore
    let version: String
    let load: @Sendable () -> HealthController.Load
    let waiting: @Sendable () -> [HealthController.WaitingChannel]
    let site: @Sendable () -> SiteStatus

    var json: JSONWriter {
        let (load, health, site) = (load(), store.health(), site())
        return JSONWriter.object { json in
            json.member("Version", version)
            json.member("StartedAt", site.startedAt.text)
            json.member("Store", "\(health)")
            json.member("Hub", site.isHubBuiltIn ? "built-in" : "azure")
            json.member("WorkersBusy", load.workersBusy)
            json.member("Workers", load.workers)
            if let queue = site.queue {
                json.member("Queue", queue.messages)
                if let oldest = queue.oldest { json.member("QueuedSince", oldest.text) }
            }
            json.member("Waiting", waiting()) { $0.writeMembers(to: &$1) }
            json.member("Sends", site.sends) { $0.writeMembers(to: &$1) }
            json.member("Pushes", site.pushes) { $0.writeMembers(to: &$1) }
            json.member("History", site.hours) { $0.writeMembers(to: &$1) }
        }
    }
}

extension SiteStatus.Count {
    fileprivate func writeMembers(to json: inout JSONWriter) {
        if !platform.isEmpty { json.member("Platform", platform) }
        json.member("Outcome", outcome)
        json.member("Count", count)
    }
}

extension SiteStatus.Hour {
    fileprivate func writeMembers(to json: inout JSONWriter) {
        json.member("From", beganAt.text)
        json.member("Platform", platform)
        json.member("Taken", taken)
        json.member("Failed", failed)
    }
}

extension HealthController.WaitingChannel {
    fileprivate func writeMembers(to json: inout JSONWriter) {
        json.member("Channel", name)
        json.member("Cause", cause.rawValue)
        json.member("Since", since.text)
        json.member("Reason", reason)
    }
}
