// SPDX-License-Identifier: Apache-2.0
import NotificationHub
import Store

/// Messages that wait for another try. Where a service is down, or a device has an address that leads nowhere, they wait
/// for half an hour, and they take room in the queue.
extension DeliverySession {
    /// Between two lines of the log about the same sender, in seconds.
    private static let reportPause = Duration.seconds(60)

    /// Gives up retries where one tag expression, one device or one sender has more messages waiting than it may.
    func limitWaiting() {
        guard hasMoreWaiting else { return }
        hasMoreWaiting = false
        // Broadcasts and direct sends have no expression: who may make them holds the hub's key. Those of one namespace take no room
        // from those of the other.
        limit(to: worker.options.waitingPerAudience) { job in
            job.message.record.tags.map { ["\(job.message.record.namespaces) \($0)"] } ?? []
        } abandon: { job, _ in
            job.abandonRetries()
        }
        // Each message may name a device in another expression.
        limit(to: worker.options.waitingPerDevice) { job in
            job.message.retries.map(\.registrationID).filter { !Target.isPlace($0) }
        } abandon: { job, device in
            job.abandonRetries(of: device)
        }
        limitSenders()
    }

    /// Several senders may write to one device: none of them takes the place of the others there. Messages that wait for a credential
    /// do not count, because neither their audience nor their devices are the cause.
    /// - Parameter keys: the audience, or the devices, whose room the waiting message takes.
    private func limit(
        to limit: Int, by keys: (DeliveryJob) -> [String], abandon: (inout DeliveryJob, String) -> Void
    ) {
        guard jobs.count > limit else { return }
        var waiting: [String: [WaitingRoom.Message]] = [:]
        for job in jobs.values where !job.message.retries.isEmpty && !waitsForCredential(job) {
            let message = job.message.waiting(size: 1)
            for key in keys(job) { waiting[key, default: []].append(message) }
        }
        for (key, waiting) in waiting {
            for message in WaitingRoom.excess(of: waiting, above: limit) {
                if var job = jobs[message.id] {
                    abandon(&job, key)
                    jobs[message.id] = job
                }
                unwritten.insert(message.id)
            }
        }
    }

    /// Also of what waits for a credential: it takes as much room.
    private func limitSenders() {
        let waiting = jobs.values.filter(\.hasWaiting).map { $0.message.waiting(size: $0.message.size) }
        let excess = WaitingRoom.excess(of: waiting, above: worker.options.waitingBytes)
        for message in excess {
            jobs[message.id]?.abandonWaiting()
            unwritten.insert(message.id)
        }
        if let last = excess.last { reportGivenUp(last.sender) }
    }

    private func reportGivenUp(_ sender: String?) {
        let (name, now) = (HubNotification.name(ofSender: sender), worker.clock())
        if let last = lastGivenUp, last.sender == name, last.at + Self.reportPause > now { return }
        lastGivenUp = (name, now)
        worker.report("delivery: messages of \(name) were given up: too many wait that cannot be delivered now")
    }

    private func waitsForCredential(_ job: DeliveryJob) -> Bool {
        Set(job.message.retries.map { $0.lane ?? LaneName(platform: $0.platform) }).contains { lane in
            worker.channels.isHeld(lane.platform, lane.app.isEmpty ? nil : lane.app)
        }
    }
}

extension QueuedMessage {
    fileprivate func waiting(size: Int) -> WaitingRoom.Message {
        WaitingRoom.Message(id: record.id, sender: notification.sender, dueAt: record.dueAt, size: size)
    }
}
