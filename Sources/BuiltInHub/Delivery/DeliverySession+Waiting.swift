// SPDX-License-Identifier: Apache-2.0

/// Messages that wait for another try. Where a service is down, or a device has an address that leads nowhere, they wait
/// for half an hour, and they take room in the queue.
extension DeliverySession {
    /// Gives up retries where one tag expression has more messages waiting than it may; the oldest stay.
    func limitWaiting() {
        let limit = worker.options.waitingPerAudience
        guard hasMoreWaiting else { return }
        hasMoreWaiting = false
        guard jobs.count > limit else { return }
        for (_, waiting) in waitingByAudience() where waiting.count > limit {
            let oldestFirst = waiting.sorted { ($0.dueAt, $0.id) < ($1.dueAt, $1.id) }
            for record in oldestFirst.dropFirst(limit) {
                jobs[record.id]?.abandonRetries()
                unwritten.insert(record.id)
            }
        }
    }

    private func waitingByAudience() -> [String: [MessageRecord]] {
        var waiting: [String: [MessageRecord]] = [:]
        // Waiting for a credential is not caused by the audience.
        for job in jobs.values where !job.message.retries.isEmpty && !waitsForCredential(job) {
            // Broadcasts and direct sends have none; who may make them holds the hub's key.
            // Those of one namespace take no room from those of the other.
            let record = job.message.record
            if let tags = record.tags { waiting["\(record.namespaces) \(tags)", default: []].append(record) }
        }
        return waiting
    }

    private func waitsForCredential(_ job: DeliveryJob) -> Bool {
        Set(job.message.retries.map { $0.lane ?? LaneName(platform: $0.platform) }).contains { lane in
            worker.channels.isHeld(lane.platform, lane.app.isEmpty ? nil : lane.app)
        }
    }
}
