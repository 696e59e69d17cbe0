// SPDX-License-Identifier: Apache-2.0
import Store

/// Messages that wait for another try. Where a service is down, or a device has an address that leads nowhere, they wait
/// for half an hour, and they take room in the queue.
extension DeliverySession {
    /// Between two lines of the log about the same sender, in seconds.
    private static let reportPause: Int64 = 60

    /// Gives up retries where one tag expression, one device or one sender has more messages waiting than it may.
    func limitWaiting() {
        guard hasMoreWaiting else { return }
        hasMoreWaiting = false
        limitAudiences()
        limitDevices()
        limitSenders()
    }

    /// The oldest stay.
    private func limitAudiences() {
        let limit = worker.options.waitingPerAudience
        guard jobs.count > limit else { return }
        for (_, waiting) in waitingByAudience() where waiting.count > limit {
            for record in Self.newest(of: waiting, above: limit) {
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

    /// As above, of devices: each message may name one in another expression.
    private func limitDevices() {
        let limit = worker.options.waitingPerDevice
        guard jobs.count > limit else { return }
        var waiting: [String: [MessageRecord]] = [:]
        for job in jobs.values where !job.message.retries.isEmpty && !waitsForCredential(job) {
            for id in job.message.retries.map(\.registrationID) where id != QueuedMessage.unregistered {
                waiting[id, default: []].append(job.message.record)
            }
        }
        for (device, waiting) in waiting where waiting.count > limit {
            for record in Self.newest(of: waiting, above: limit) {
                jobs[record.id]?.abandonRetries(of: device)
                unwritten.insert(record.id)
            }
        }
    }

    private static func newest(of records: [MessageRecord], above limit: Int) -> some Sequence<MessageRecord> {
        records.sorted { ($0.dueAt, $0.id) < ($1.dueAt, $1.id) }.dropFirst(limit)
    }

    /// Also of what waits for a credential: it takes as much room.
    private func limitSenders() {
        let waiting = jobs.values.filter(\.hasWaiting).map { job in
            WaitingRoom.Message(
                id: job.message.record.id, sender: job.message.notification.sender, dueAt: job.message.record.dueAt,
                size: job.message.size)
        }
        let excess = WaitingRoom.excess(of: waiting, above: worker.options.waitingBytes)
        for message in excess {
            jobs[message.id]?.abandonWaiting()
            unwritten.insert(message.id)
        }
        if let last = excess.last { reportGivenUp(last.sender) }
    }

    private func reportGivenUp(_ sender: String?) {
        let (name, now) = (sender.map { User.name(ofOwner: $0) } ?? "a key of the hub", worker.now())
        if let last = lastGivenUp, last.sender == name, (0..<Self.reportPause).contains(now - last.at) { return }
        lastGivenUp = (name, now)
        worker.report("delivery: messages of \(name) were given up: too many wait that cannot be delivered now")
    }

    private func waitsForCredential(_ job: DeliveryJob) -> Bool {
        Set(job.message.retries.map { $0.lane ?? LaneName(platform: $0.platform) }).contains { lane in
            worker.channels.isHeld(lane.platform, lane.app.isEmpty ? nil : lane.app)
        }
    }
}
