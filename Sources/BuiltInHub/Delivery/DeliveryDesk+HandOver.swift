// SPDX-License-Identifier: Apache-2.0
internal import Push
import Store
import Text

/// What is handed over next.
extension DeliveryDesk {
    /// A message whose targets cannot be read is left alone for so long, in seconds.
    private static let pauseSeconds: Int64 = 5

    /// Chooses targets of all messages in turn, writes down that they are handed over, and hands them over.
    /// - Returns: whether there may be more for whom there is room now.
    func handOver() throws(StoreError) -> Bool {
        // Few at a time would cost a write to the store each.
        let room = courier.options.underWay - services.underWay
        guard room >= min(courier.options.batch, courier.options.underWay) else { return false }
        let before = services
        var planned: [(id: String, deliveries: [PlannedDelivery])] = []
        var changed: [String: DeliveryJob] = [:]
        var left = room
        let now = courier.now()
        for id in order where left > 0 {
            guard var job = jobs[id], mayAct(job, now) else { continue }
            let deliveries = plan(&job, room: min(left, courier.options.batch), now)
            changed[id] = job
            left -= deliveries.count
            if !deliveries.isEmpty { planned.append((id, deliveries)) }
        }
        if let last = planned.last?.id {
            do throws(StoreError) {
                try courier.store.updateQueuedHubMessages(planned.compactMap { changed[$0.id]?.message.stored })
            } catch {
                services = before
                throw error
            }
            let end = (order.firstIndex(of: last) ?? 0) + 1
            order = Array(order[end...] + order[..<end])
        }
        jobs.merge(changed) { $1 }
        unwritten.subtract(planned.map(\.id))
        for (id, deliveries) in planned { post(deliveries, id) }
        return !planned.isEmpty
    }

    /// The next targets of one message. What the job says afterwards is true only once it is in the store.
    private func plan(_ job: inout DeliveryJob, room: Int, _ now: Int64) -> [PlannedDelivery] {
        job.obstacle = nil
        let (before, servicesBefore) = (job, services)
        do throws(StoreError) {
            try job.findTargets(courier.selection)
            job.message.record.startedAt = job.message.record.startedAt ?? now
            if isOverdue(job, now) {
                if job.abandon() { unwritten.insert(job.message.record.id) }
                return []
            }
            let again = try planRetries(&job, room: room, now)
            let deliveries = try again + planNew(&job, room: room - again.count, now)
            job.message.underWay += deliveries.count
            return deliveries
        } catch {
            courier.report("delivery: \(error)")
            (job, services) = (before, servicesBefore)
            job.pausedUntil = now + Self.pauseSeconds
            return []
        }
    }

    private func planRetries(
        _ job: inout DeliveryJob, room: Int, _ now: Int64
    ) throws(StoreError) -> [PlannedDelivery] {
        var deliveries: [PlannedDelivery] = []
        var waiting: [QueuedMessage.Retry] = []
        for retry in job.message.retries {
            guard isDue(retry, now), job.obstacle == nil, deliveries.count < room else {
                waiting.append(retry)
                continue
            }
            switch try admit(retry.registrationID, attempts: retry.attempts, at: retry.service, job, now) {
            case .now(let delivery): deliveries.append(delivery)
            case .blocked(let obstacle):
                job.obstacle = obstacle
                waiting.append(retry)
            case .held(_, let until): waiting.append(retry.postponed(until))
            case .gone: break
            }
        }
        job.message.retries = waiting
        return deliveries
    }

    private func planNew(_ job: inout DeliveryJob, room: Int, _ now: Int64) throws(StoreError) -> [PlannedDelivery] {
        var deliveries: [PlannedDelivery] = []
        while deliveries.count < room, job.obstacle == nil,
            job.message.retries.count < courier.options.retries, let id = job.targets?.first
        {
            switch try admit(id, attempts: 0, at: nil, job, now) {
            case .now(let delivery): deliveries.append(delivery)
            case .blocked(let obstacle):
                job.obstacle = obstacle
                return deliveries
            case .held(let service, let until):
                hasMoreWaiting = true
                job.message.retries.append(
                    .init(registrationID: id, attempts: 0, dueAt: until, service: service))
            case .gone: break
            }
            job.targets?.removeFirst()
            job.message.through = id
        }
        return deliveries
    }

    /// Whether it is worth looking for targets. Where thousands of messages wait, only those are taken in hand whose time
    /// has come and whose service has room.
    private func mayAct(_ job: DeliveryJob, _ now: Int64) -> Bool {
        guard job.pausedUntil <= now || job.pausedUntil > now + Self.pauseSeconds else { return false }
        guard !isOverdue(job, now) else { return true }
        if let obstacle = job.obstacle, isThere(obstacle, now) { return false }
        let hasNew = job.targets?.isEmpty != true && job.message.retries.count < courier.options.retries
        return hasNew || job.message.retries.contains { isDue($0, now) }
    }

    private func isThere(_ obstacle: DeliveryJob.Obstacle, _ now: Int64) -> Bool {
        switch obstacle {
        case .fullService(let service): services.isFull(service)
        case .heldChannel(let channel): admission(to: channel, now) == .held
        }
    }

    /// Whether a push may be sent by the channel; one of which a probe is under way already may not.
    func admission(to channel: PushChannel, _ now: Int64) -> PushChannel.Admission {
        let admission = channel.admission(now)
        return admission == .probe && services.probed.contains(channel.name) ? .held : admission
    }

    private func isOverdue(_ job: DeliveryJob, _ now: Int64) -> Bool {
        now >= job.message.record.dueAt + courier.options.abandonSeconds
    }

    /// A clock that was set back must not make anybody wait for longer than he was told.
    private func isDue(_ retry: QueuedMessage.Retry, _ now: Int64) -> Bool {
        retry.dueAt <= now || retry.dueAt > now + courier.options.abandonSeconds
    }

    private enum Admission {
        case now(PlannedDelivery)
        /// The message has to wait.
        case blocked(DeliveryJob.Obstacle)
        /// The service is left alone until then.
        case held(String, until: Int64)
        /// The message does not reach that registration any more.
        case gone
    }

    /// Makes a target's push ready, and takes its place among those under way, if there is one.
    /// - Parameter service: where it went the last time. To make a push ready costs far more than to see that there is no
    ///   place for it.
    private func admit(
        _ id: String, attempts: Int, at service: String?, _ job: DeliveryJob, _ now: Int64
    ) throws(StoreError) -> Admission {
        if let service, let refusal = refusal(of: service, now) { return refusal }
        guard let target = try job.target(id, courier.selection) else { return .gone }
        let channel = courier.channels.channel(for: target.description.handle)
        let admission = channel.map { self.admission(to: $0, now) }
        if let channel, admission == .held { return .blocked(.heldChannel(channel)) }
        let delivery = PlannedDelivery(
            job.message.notification, to: target, attempts: attempts, by: channel, isProbe: admission == .probe)
        guard case .success = delivery.request else { return .now(delivery) }
        if let refusal = refusal(of: delivery.service, now) { return refusal }
        begin(delivery)
        return .now(delivery)
    }

    /// Takes its place among those under way.
    func begin(_ delivery: PlannedDelivery) {
        services.begin(delivery.service)
        if delivery.isProbe, let channel = delivery.channel { services.probed.insert(channel.name) }
    }

    private func refusal(of service: String, _ now: Int64) -> Admission? {
        if let until = services.heldUntil(service, now: now) { return .held(service, until: until) }
        return services.isFull(service) ? .blocked(.fullService(service)) : nil
    }

    private func post(_ deliveries: [PlannedDelivery], _ id: String) {
        for delivery in deliveries {
            switch delivery.request {
            case .success: send(delivery, id)
            case .failure(let refusal):
                guard var job = jobs[id] else { continue }
                job.message.underWay -= 1
                settle(delivery, PushResult(refusal.outcome), &job)
                jobs[id] = job
                unwritten.insert(id)
            }
        }
    }

    /// Only for a delivery that has its place among those under way.
    func send(_ delivery: PlannedDelivery, _ id: String) {
        guard case .success(let request) = delivery.request else { return }
        let (mailbox, desk) = (courier.mailbox, number)
        delivery.channel?.send(request) {
            mailbox.add(Answer(desk: desk, messageID: id, delivery: delivery, result: $0))
        }
    }
}
