// SPDX-License-Identifier: Apache-2.0
import HTTP
import NotificationHub
import Store

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
        job.fullService = nil
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
            job.underWay += deliveries.count
            job.message.underWay = job.underWay
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
            guard isDue(retry, now), job.fullService == nil, deliveries.count < room else {
                waiting.append(retry)
                continue
            }
            if let service = retry.service, let until = services.heldUntil(service, now: now) {
                waiting.append(retry.postponed(until))
                continue
            }
            guard let target = try job.target(retry.registrationID, courier.selection) else { continue }
            let delivery = plan(target, attempts: retry.attempts, job)
            switch admit(delivery, now) {
            case .now: deliveries.append(delivery)
            case .full:
                job.fullService = delivery.service
                waiting.append(retry)
            case .held(let until): waiting.append(retry.postponed(until))
            }
        }
        job.message.retries = waiting
        return deliveries
    }

    private func planNew(_ job: inout DeliveryJob, room: Int, _ now: Int64) throws(StoreError) -> [PlannedDelivery] {
        var deliveries: [PlannedDelivery] = []
        while deliveries.count < room, job.fullService == nil,
            job.message.retries.count < courier.options.retries, let id = job.targets?.first
        {
            if let target = try job.target(id, courier.selection) {
                let delivery = plan(target, attempts: 0, job)
                switch admit(delivery, now) {
                case .now: deliveries.append(delivery)
                case .full:
                    job.fullService = delivery.service
                    return deliveries
                case .held(let until):
                    hasMoreWaiting = true
                    job.message.retries.append(
                        .init(registrationID: id, attempts: 0, dueAt: until, service: delivery.service))
                }
            }
            job.targets?.removeFirst()
            job.message.through = id
        }
        return deliveries
    }

    /// Whether it is worth looking for targets: where thousands of messages wait, only those whose time has come are
    /// taken in hand, and to make a push ready costs far more than to see that there is no room for it.
    private func mayAct(_ job: DeliveryJob, _ now: Int64) -> Bool {
        guard job.pausedUntil <= now || job.pausedUntil > now + Self.pauseSeconds else { return false }
        guard !isOverdue(job, now) else { return true }
        guard !waitsForService(job) else { return false }
        let hasNew = job.targets?.isEmpty != true && job.message.retries.count < courier.options.retries
        return hasNew || job.message.retries.contains { isDue($0, now) }
    }

    private func isOverdue(_ job: DeliveryJob, _ now: Int64) -> Bool {
        now >= job.message.record.enqueuedAt + courier.options.abandonSeconds
    }

    /// A clock that was set back must not make anybody wait for longer than he was told.
    private func isDue(_ retry: QueuedMessage.Retry, _ now: Int64) -> Bool {
        retry.dueAt <= now || retry.dueAt > now + courier.options.abandonSeconds
    }

    /// Whether the service that the job found full has no room yet for as many as are handed over together: few at a
    /// time would cost a write to the store each.
    private func waitsForService(_ job: DeliveryJob) -> Bool {
        guard let service = job.fullService else { return false }
        let limit = courier.options.underWayPerService
        return services.underWay(service) > max(limit / 2, limit - courier.options.batch)
    }

    private func plan(_ target: Target, attempts: Int, _ job: DeliveryJob) -> PlannedDelivery {
        let driver = courier.drivers[target.description.platform]
        return PlannedDelivery(job.message.notification, to: target, attempts: attempts, driver: driver)
    }

    private enum Admission {
        case now
        /// The service has as much under way as it may.
        case full
        /// The service is left alone until then.
        case held(Int64)
    }

    /// Takes the delivery's place among those under way, if there is one.
    private func admit(_ delivery: PlannedDelivery, _ now: Int64) -> Admission {
        guard case .success = delivery.request else { return .now }
        if let until = services.heldUntil(delivery.service, now: now) { return .held(until) }
        guard services.underWay(delivery.service) < courier.options.underWayPerService else { return .full }
        services.begin(delivery.service)
        return .now
    }

    private func post(_ deliveries: [PlannedDelivery], _ id: String) {
        for delivery in deliveries {
            switch delivery.request {
            case .success(let request):
                let mailbox = courier.mailbox
                courier.sender.send(request) {
                    mailbox.add(Answer(messageID: id, delivery: delivery, result: $0))
                }
            case .failure(let refusal):
                guard var job = jobs[id] else { continue }
                job.underWay -= 1
                settle(delivery, PushVerdict(refusal.outcome), &job)
                jobs[id] = job
                unwritten.insert(id)
            }
        }
    }
}
