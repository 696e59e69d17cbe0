// SPDX-License-Identifier: Apache-2.0
internal import Push
import Store
internal import System
import Text

/// The messages that the delivering thread works on while this process holds the lease. Only that thread uses it.
final class DeliverySession {
    let worker: DeliveryWorker
    let lease: DeliveryLease
    /// The number of the session in its worker: one for each lease that was acquired.
    let epoch: Int
    var jobs: [String: DeliveryJob] = [:]
    /// The order in which messages are looked at. It rotates, so that a message to thousands delays no other.
    var order: [String] = []
    var throttle: ServiceThrottle
    /// Of the queue as it was last looked through; nil: there was more than room for it.
    private var revision: QueueRevision?
    /// When something may become due that is in the queue already.
    private var nextDue: Timestamp?
    private var lookedAt: ContinuousClock.Instant?
    private var lastError: StoreError?
    /// Of one session: a service has few words, and a log must not be flooded with them.
    private static let maximumReportedReasons = 100
    private var reportedReasons: Set<String> = []
    /// Messages with results that are not in the store yet.
    var unwritten: Set<String> = []
    private var writtenAt = ContinuousClock.now
    /// Whether messages may have begun to wait for a retry or a credential since they were last counted.
    var hasMoreWaiting = false
    /// Whose messages were given up last because too many wait, and when the operator was told.
    var lastGivenUp: (sender: String, at: ContinuousClock.Instant)?

    init(_ worker: DeliveryWorker, _ lease: DeliveryLease, epoch: Int) {
        (self.worker, self.lease, self.epoch) = (worker, lease, epoch)
        throttle = ServiceThrottle(
            limit: worker.options.inFlightPerService, batch: worker.options.batch,
            unsent: worker.options.unsentPerService)
    }

    /// Delivers until the worker is stopped, or the lease is lost. Then all is left as it is in the store: another process
    /// goes on from there, and may have begun.
    func work() {
        while !worker.loop.isStopping {
            worker.showLife()
            guard lease.renew() else { return reportLoss() }
            var hasMore = false
            do throws(StoreError) {
                hasMore = try step()
                lastError = nil
            } catch {
                if error == .conflict { return reportLoss() }
                if error != lastError { worker.report("delivery: \(error)") }
                lastError = error
            }
            if !hasMore {
                worker.loop.wait(throttle.isBackedUp ? worker.options.sendingPoll : worker.options.poll)
            }
        }
        drain()
    }

    private func reportLoss() {
        worker.lookups.forgetWaiting()
        worker.report("delivery: this process was too slow and has lost the delivery lease; another one goes on")
    }

    /// One round: takes completions, admits new messages, dispatches pushes, finishes messages.
    /// - Returns: whether there is more to dispatch at once.
    private func step() throws(StoreError) -> Bool {
        settle(worker.completions.takeAll())
        limitWaiting()
        try admit()
        let hasMore = try dispatch()
        try finish()
        if ContinuousClock.now >= writtenAt + worker.options.progress { try writeProgress() }
        return hasMore
    }

    // MARK: New messages

    /// Takes messages from the queue, when something was put in and there is room for it.
    private func admit() throws(StoreError) {
        guard isTimeToLook() else { return }
        let now = Timestamp(seconds: worker.now())
        let current = worker.store.hubQueueRevision(now: now)
        guard current != revision || nextDue.map({ $0 <= now }) ?? false else { return }
        // Messages that only wait are not counted, or a service that is down would keep all others out.
        let inHand = jobs.values.count { !$0.isWaiting(retries: worker.options.retries) }
        let room = worker.options.messages - inHand
        // If there is no room, the rest is looked for later.
        revision = nil
        guard room > worker.options.messages / 2 else { return }
        let due = try worker.store.dueHubMessages(except: Set(jobs.keys), limit: room, now: now)
        for message in due.messages {
            do throws(StoreError) {
                let queued = try QueuedMessage(message)
                jobs[message.id] = DeliveryJob(queued)
                order.append(message.id)
                hasMoreWaiting = hasMoreWaiting || !queued.retries.isEmpty
            } catch {
                // Else it would be found in every round.
                worker.report("delivery: \(error)")
                try worker.store.removeQueuedHubMessages([message])
            }
        }
        if due.messages.count < room { (revision, nextDue) = (current, due.next) }
    }

    /// The revision alone does not tell: while this process delivers, every write of its own changes it, and to look through
    /// the queue takes reading all of it. So it looks when it is called, and for the sake of other processes as often as
    /// it would if there were nothing to do.
    private func isTimeToLook() -> Bool {
        let now = ContinuousClock.now
        let isCalled = worker.completions.takeCall()
        guard isCalled || revision == nil || now >= (lookedAt ?? now) + worker.options.poll else { return false }
        lookedAt = now
        return true
    }

    // MARK: Completions

    /// How long a target waits for its next try, unless its service asks for longer.
    static let backoff = Backoff(doubling: .seconds(1), to: .seconds(300), isSpread: true)
    /// A device waits so long for the other environment of its service when that takes nothing at the moment, in seconds.
    private static let otherEnvironmentSeconds = 60

    func settle(_ answers: [Completion]) {
        // Of what was in flight when a lease was lost, the next holder has recorded as unknown.
        for answer in answers where answer.epoch == epoch {
            let delivery = answer.delivery
            let now = worker.clock()
            throttle.end(delivery.service, answer.result, now: now)
            throttle.devices.end(delivery, answer.result, now: now)
            if delivery.isProbe, let channel = delivery.channel { throttle.probed.remove(channel.name) }
            worker.noteEnvironment(delivery, answer.result)
            guard var job = jobs[answer.messageID], let result = tryElsewhere(answer, job) else { continue }
            job.count(-1, underWay: delivery.target.description)
            settle(delivery, result, &job)
            jobs[answer.messageID] = job
            unwritten.insert(answer.messageID)
        }
    }

    /// Sends a device that does not belong to its service's environment the message in the other one. It has not got the
    /// message, so no new place in the queue is needed.
    /// - Returns: nil, when that was done; else what the answer comes to.
    private func tryElsewhere(_ answer: Completion, _ job: DeliveryJob) -> PushResult? {
        guard var other = worker.elsewhere(answer.delivery, answer.result, job.message.notification),
            let channel = other.channel
        else { return answer.result }
        let now = worker.moment
        let admission = admission(to: channel, now)
        guard admission != .held, throttle.backoffUntil(other.service, now: now.instant) == nil, !worker.loop.isStopping
        else {
            return PushResult(answer.result.outcome, .retryPush(afterSeconds: Self.otherEnvironmentSeconds))
        }
        other.isProbe = admission == .probe
        begin(other)
        send(other, answer.messageID)
        return nil
    }

    /// Adds the outcome of one target to the record, or puts the target among the retries.
    func settle(_ delivery: DeliveryAttempt, _ result: PushResult, _ job: inout DeliveryJob) {
        var outcome = result.outcome
        report(result, of: delivery)
        switch result.action {
        case .settle, .renewCredential: worker.noteReached(delivery, result)
        case .tryOtherEnvironment:
            // Neither environment knows it.
            if delivery.isElsewhere { worker.goneDevices.remove(delivery.target, outcome, goneSince: nil) }
        case .removeRegistration(let goneSince):
            worker.goneDevices.remove(delivery.target, outcome, goneSince: goneSince)
        case .doubtRegistration(let reason):
            worker.goneDevices.doubt(delivery.target, of: delivery.channel, outcome, reason: reason)
        case .holdCredential(let reason):
            job.message.waitReason = reason
            // It has not been taken, and waits as those do that were not sent.
            return wait(delivery, seconds: 0, attempts: delivery.attempts, &job)
        case .retry(let seconds), .retryDevice(let seconds), .retryPush(let seconds):
            let attempts = delivery.attempts + 1
            guard !leadsNowhere(delivery, result, attempts: attempts) else {
                outcome = .wrongChannel
                break
            }
            let pause = Self.backoff.seconds(after: delivery.attempts, atLeast: Int64(seconds ?? 0))
            if worker.now() + pause < job.message.record.dueAt + worker.options.abandonSeconds {
                // There was no access token, or no connection to trust.
                if result.outcome == .pnsUnreachable, let reason = result.reason { job.message.waitReason = reason }
                job.message.serviceReason = Self.serviceReason(result, delivery)
                return wait(delivery, seconds: pause, attempts: attempts, &job)
            }
            outcome = .abandoned
        }
        if job.message.retries.isEmpty { job.message.serviceReason = nil }
        job.message.record.add(delivery.target, outcome)
    }

    /// Whether no later try will reach the device, because its address names a host that is not there.
    private func leadsNowhere(_ delivery: DeliveryAttempt, _ result: PushResult, attempts: Int) -> Bool {
        result.isUnresolved && delivery.channel?.host(of: delivery.service) != nil
            && throttle.leadsNowhere(delivery.service, attempts: attempts, tries: worker.options.unresolvedTries)
    }

    private static func serviceReason(_ result: PushResult, _ delivery: DeliveryAttempt) -> String {
        let service = delivery.channel?.host(of: delivery.service) ?? "the push service"
        let words = result.reason.map { ": \($0)" } ?? ""
        return "\(service) does not take it now, and is asked again: \(result.outcome)\(words)"
    }

    /// Tells the operator the service's own word for a refusal, or which app has no credential, once for each of them.
    /// That of a hold the channel tells, and why there is no access token or no connection to trust.
    private func report(_ result: PushResult, of delivery: DeliveryAttempt) {
        guard let reason = result.reason, result.outcome != .success, result.outcome != .pnsUnreachable,
            reportedReasons.count < Self.maximumReportedReasons
        else { return }
        if case .holdCredential = result.action { return }
        let platform = delivery.target.description.platform.rawValue
        let host = delivery.channel?.host(of: delivery.service).map { " (\($0))" } ?? ""
        let text =
            delivery.channel == nil
            ? "push: nothing is sent to devices of \(platform) of the app \(reason), which has no credential here"
            : "push: a push was refused by \(platform)\(host): \(result.outcome): \(reason)"
        if reportedReasons.insert(text).inserted { worker.report(text) }
    }

    private func wait(_ delivery: DeliveryAttempt, seconds: Int64, attempts: Int, _ job: inout DeliveryJob) {
        let lane = job.lane(of: delivery.target.description)
        let retry = QueuedMessage.Retry(
            registrationID: delivery.registrationID, platform: lane.platform, attempts: attempts,
            dueAt: worker.clock() + .seconds(seconds), service: delivery.service, lane: lane)
        wait(retry, &job)
    }

    func wait(_ retry: QueuedMessage.Retry, _ job: inout DeliveryJob) {
        hasMoreWaiting = true
        // Of one that was not sent, because the service or the device is left alone.
        let reason = "its push service takes nothing at present, and is asked again"
        job.message.serviceReason = job.message.serviceReason ?? reason
        job.message.retries.append(retry)
    }

    // MARK: Finished messages

    private func finish() throws(StoreError) {
        let done = jobs.filter { $0.value.isDone }.keys
        guard !done.isEmpty else { return }
        for id in done { jobs[id]?.message.record.endedAt = worker.now() }
        try worker.store.finishQueuedHubMessages(done.compactMap { jobs[$0]?.message.finished })
        for id in done { jobs[id] = nil }
        order.removeAll { jobs[$0] == nil }
    }

    /// Waits for what is in flight, then writes down how far everything has come, for the next holder of the lease.
    private func drain() {
        worker.lookups.forgetWaiting()
        let deadline = ContinuousClock.now + worker.options.drain
        while throttle.inFlight > 0, ContinuousClock.now < deadline, lease.renew() {
            worker.loop.wait(min(worker.options.poll, .milliseconds(50)))
            settle(worker.completions.takeAll())
        }
        // Results that are here are counted, however late it is.
        settle(worker.completions.takeAll())
        // Separately: if messages cannot be finished, their progress can perhaps be written.
        report { () throws(StoreError) in try finish() }
        report { () throws(StoreError) in try writeProgress() }
    }

    private func report(_ write: () throws(StoreError) -> Void) {
        do throws(StoreError) {
            try write()
        } catch {
            worker.report("delivery: \(error)")
        }
    }

    /// For those who ask what became of a message, and for the next holder of the lease.
    private func writeProgress() throws(StoreError) {
        try worker.store.updateQueuedHubMessages(unwritten.compactMap { jobs[$0]?.message.stored })
        unwritten.removeAll()
        writtenAt = .now
    }
}
