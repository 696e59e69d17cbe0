// SPDX-License-Identifier: Apache-2.0
internal import Push
import Store
import Text

/// The delivering thread's own: the messages that it works on. It exists while this process holds the delivery lease.
final class DeliveryDesk {
    let courier: Courier
    let lease: DeliveryLease
    /// Among those of this courier, one for each lease.
    let number: Int
    var jobs: [String: DeliveryJob] = [:]
    /// Whose turn it is, so that a message to thousands does not keep one to a single device waiting.
    var order: [String] = []
    var services: PushServices
    /// Of the queue as it was last looked through; nil: there was more than room for it.
    private var revision: QueueRevision?
    /// When something may become due that is in the queue already.
    private var nextDue: Timestamp?
    private var lookedAt: ContinuousClock.Instant?
    private var lastError: StoreError?
    /// Messages of which the store does not know all yet that was heard.
    var unwritten: Set<String> = []
    private var writtenAt = ContinuousClock.now
    /// Whether messages may have begun to wait for another try since they were last counted.
    var hasMoreWaiting = false

    init(_ courier: Courier, _ lease: DeliveryLease, number: Int) {
        (self.courier, self.lease, self.number) = (courier, lease, number)
        services = PushServices(limit: courier.options.underWayPerService, batch: courier.options.batch)
    }

    /// Delivers until the courier is stopped, or the lease is lost. Then all is left as it is in the store: another process
    /// goes on from there, and may have begun.
    func work() {
        while !courier.mailbox.isStopping {
            courier.showLife()
            guard lease.renew() else { return reportLoss() }
            var hasMore = false
            do throws(StoreError) {
                hasMore = try step()
                lastError = nil
            } catch {
                if error == .conflict { return reportLoss() }
                if error != lastError { courier.report("delivery: \(error)") }
                lastError = error
            }
            if !hasMore { courier.mailbox.wait(courier.options.poll) }
        }
        drain()
    }

    private func reportLoss() {
        courier.report("delivery: this process was too slow and has lost the delivery lease; another one goes on")
    }

    /// One round: hear, look what is new, hand over, put away.
    /// - Returns: whether there is more to hand over at once.
    private func step() throws(StoreError) -> Bool {
        settle(courier.mailbox.takeAnswers())
        limitWaiting()
        try admit()
        let hasMore = try handOver()
        try putAway()
        if ContinuousClock.now >= writtenAt + courier.options.progress { try writeProgress() }
        return hasMore
    }

    // MARK: What is new

    /// Takes messages from the queue, when something was put in and there is room for it.
    private func admit() throws(StoreError) {
        guard isTimeToLook() else { return }
        let now = Timestamp(seconds: courier.now())
        let current = courier.store.hubQueueRevision(now: now)
        guard current != revision || nextDue.map({ $0 <= now }) ?? false else { return }
        // Those that only wait are not counted: a service that is down would keep everybody else's messages out.
        let inHand = jobs.values.count { !$0.isWaiting(retries: courier.options.retries) }
        let room = courier.options.messages - inHand
        // With a full desk the rest is looked for once there is room.
        revision = nil
        guard room > courier.options.messages / 2 else { return }
        let due = try courier.store.dueHubMessages(except: Set(jobs.keys), limit: room, now: now)
        for message in due.messages {
            do throws(StoreError) {
                let queued = try QueuedMessage(message)
                jobs[message.id] = DeliveryJob(queued)
                order.append(message.id)
                if !queued.retries.isEmpty { hasMoreWaiting = true }
            } catch {
                // It would be found again and again.
                courier.report("delivery: \(error)")
                try courier.store.removeQueuedHubMessages([message])
            }
        }
        if due.messages.count < room { (revision, nextDue) = (current, due.next) }
    }

    /// The revision alone does not tell: while this process delivers, every write of its own changes it, and to look through
    /// the queue takes reading all of it. So it looks when it is called, and for the sake of other processes as often as
    /// it would if there were nothing to do.
    private func isTimeToLook() -> Bool {
        let now = ContinuousClock.now
        let isCalled = courier.mailbox.takeCall()
        guard isCalled || revision == nil || now >= (lookedAt ?? now) + courier.options.poll else { return false }
        lookedAt = now
        return true
    }

    // MARK: What was heard

    /// A device waits so long for the other environment of its service when that takes nothing at the moment, in seconds.
    private static let otherEnvironmentSeconds = 60

    func settle(_ answers: [Answer]) {
        // Of what was under way when a lease was lost, the next holder has recorded as unknown.
        for answer in answers where answer.desk == number {
            let delivery = answer.delivery
            services.end(delivery.service, answer.result, now: courier.now())
            if delivery.isProbe, let channel = delivery.channel { services.probed.remove(channel.name) }
            courier.noteEnvironment(delivery, answer.result)
            guard var job = jobs[answer.messageID], let result = tryElsewhere(answer, job) else { continue }
            job.message.underWay -= 1
            settle(delivery, result, &job)
            jobs[answer.messageID] = job
            unwritten.insert(answer.messageID)
        }
    }

    /// Sends a device that does not belong to its service's environment the message in the other one. It has not got the
    /// message, so no new place in the queue is needed.
    /// - Returns: nil, when that was done; else what the answer comes to.
    private func tryElsewhere(_ answer: Answer, _ job: DeliveryJob) -> PushResult? {
        guard var other = courier.elsewhere(answer.delivery, answer.result, job.message.notification),
            let channel = other.channel
        else { return answer.result }
        let now = courier.now()
        let admission = admission(to: channel, now)
        guard admission != .held, services.heldUntil(other.service, now: now) == nil, !courier.mailbox.isStopping else {
            return PushResult(answer.result.outcome, .retryDevice(afterSeconds: Self.otherEnvironmentSeconds))
        }
        other.isProbe = admission == .probe
        begin(other)
        send(other, answer.messageID)
        return nil
    }

    /// Writes down what became of one target.
    func settle(_ delivery: PlannedDelivery, _ result: PushResult, _ job: inout DeliveryJob) {
        var outcome = result.outcome
        switch result.action {
        case .settle, .renewCredential, .tryOtherEnvironment: break
        case .removeRegistration(let goneSince): courier.goneDevices.remove(delivery.target, goneSince: goneSince)
        case .holdCredential:
            // It has not been taken, and waits as those do that were not sent.
            return wait(delivery, until: courier.now(), attempts: delivery.attempts, &job)
        case .retry(let seconds), .retryDevice(let seconds):
            let attempts = delivery.attempts + 1
            let due = courier.now() + RetryDelay.seconds(after: attempts, atLeast: seconds)
            if due < job.message.record.dueAt + courier.options.abandonSeconds {
                return wait(delivery, until: due, attempts: attempts, &job)
            }
            outcome = .abandoned
        }
        job.message.record.add(delivery.target, outcome)
    }

    private func wait(_ delivery: PlannedDelivery, until due: Int64, attempts: Int, _ job: inout DeliveryJob) {
        hasMoreWaiting = true
        job.message.retries.append(
            .init(
                registrationID: delivery.registrationID, attempts: attempts, dueAt: due, service: delivery.service))
    }

    // MARK: What is finished

    private func putAway() throws(StoreError) {
        let done = jobs.filter { $0.value.isDone }.keys
        guard !done.isEmpty else { return }
        for id in done { jobs[id]?.message.record.endedAt = courier.now() }
        try courier.store.finishQueuedHubMessages(done.compactMap { jobs[$0]?.message.record.stored })
        for id in done { jobs[id] = nil }
        order.removeAll { jobs[$0] == nil }
    }

    /// Waits for what is under way, then writes down how far everything has come, for the next holder of the lease.
    private func drain() {
        let deadline = ContinuousClock.now + courier.options.drain
        while services.underWay > 0, ContinuousClock.now < deadline, lease.renew() {
            courier.mailbox.wait(min(courier.options.poll, .milliseconds(50)))
            settle(courier.mailbox.takeAnswers())
        }
        // What has come by now is known, however late it is.
        settle(courier.mailbox.takeAnswers())
        // Each for itself: what cannot be put away can perhaps be written down.
        report { () throws(StoreError) in try putAway() }
        report { () throws(StoreError) in try writeProgress() }
    }

    private func report(_ write: () throws(StoreError) -> Void) {
        do throws(StoreError) {
            try write()
        } catch {
            courier.report("delivery: \(error)")
        }
    }

    /// For those who ask what became of a message, and for the next holder of the lease.
    private func writeProgress() throws(StoreError) {
        try courier.store.updateQueuedHubMessages(unwritten.compactMap { jobs[$0]?.message.stored })
        unwritten.removeAll()
        writtenAt = .now
    }
}

/// How long a target waits for its next try.
enum RetryDelay {
    /// The longest pause that we choose ourselves, in seconds.
    static let maximum: Int64 = 300

    /// Twice as long each time, from one second on, and up to a quarter more so that not all come back at once.
    /// - Parameter minimum: what the service asked for.
    static func seconds(after attempts: Int, atLeast minimum: Int?) -> Int64 {
        let base = min(maximum, 1 << Int64(min(max(attempts - 1, 0), 16)))
        return max(base, Int64(minimum ?? 0)) + Int64.random(in: 0...max(1, base / 4))
    }
}
