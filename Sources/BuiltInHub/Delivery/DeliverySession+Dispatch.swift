// SPDX-License-Identifier: Apache-2.0
internal import Push
import Store
import Text

/// Which pushes are sent next.
extension DeliverySession {
    /// A message whose targets cannot be read is left alone for so long, in seconds.
    private static let pause = Duration.seconds(5)

    /// Chooses targets of all messages in rotation, writes them down as dispatched, and sends the pushes.
    /// - Returns: whether there may be more targets and room for them.
    func dispatch() throws(StoreError) -> Bool {
        for channel in worker.allChannels {
            if let backlog = channel.backlog { throttle.note(unsent: backlog.unsent, of: backlog.service) }
        }
        // Each round costs a write to the store, so few targets at a time would be expensive.
        let room = worker.options.inFlight - throttle.inFlight
        guard room >= min(worker.options.batch, worker.options.inFlight) else { return false }
        let before = throttle
        var planned: [(id: String, deliveries: [DeliveryAttempt])] = []
        var changed: [String: DeliveryJob] = [:]
        var left = room
        let now = worker.moment
        for id in order where left > 0 {
            guard let known = jobs[id], mayAct(known, now), hasTargets(id, now), var job = jobs[id] else { continue }
            let deliveries = plan(&job, room: min(left, worker.options.batch), now)
            changed[id] = job
            left -= deliveries.count
            if !deliveries.isEmpty { planned.append((id, deliveries)) }
        }
        if let last = planned.last?.id {
            do throws(StoreError) {
                try worker.store.updateQueuedHubMessages(planned.compactMap { changed[$0.id]?.message.stored })
            } catch {
                throttle = before
                throw error
            }
            let end = (order.firstIndex(of: last) ?? 0) + 1
            order = Array(order[end...] + order[..<end])
        }
        jobs.merge(changed) { $1 }
        unwritten.subtract(planned.map(\.id))
        for (id, deliveries) in planned { sendAll(deliveries, id) }
        return !planned.isEmpty
    }

    /// The next targets of one message. What the job says afterwards is true only once it is in the store.
    private func plan(_ job: inout DeliveryJob, room: Int, _ now: Moment) -> [DeliveryAttempt] {
        let (before, throttleBefore) = (job, throttle)
        do throws(StoreError) {
            for index in job.lanes?.indices ?? 0..<0 where !isBlocked(job.lanes?[index], now) {
                job.lanes?[index].obstacle = nil
            }
            job.message.record.startedAt = job.message.record.startedAt ?? now.date
            if isOverdue(job, now) {
                if job.abandon() { unwritten.insert(job.message.record.id) }
                return []
            }
            let again = try planRetries(&job, room: room, now)
            let deliveries = try again + planNew(&job, room: room - again.count, now)
            noteWait(&job)
            if job.message.serviceReason != before.message.serviceReason { unwritten.insert(job.message.record.id) }
            for delivery in deliveries { job.count(1, underWay: delivery.target.description) }
            return deliveries
        } catch {
            worker.report("delivery: \(error)")
            (job, throttle) = (before, throttleBefore)
            job.pausedUntil = now.instant + Self.pause
            return []
        }
    }

    /// Looks up the targets of a message where they are not known. What comes of it is kept also when the next write to the store
    /// fails: a look-up is begun once, and a failed one is not asked again.
    /// - Returns: false, when it has failed or takes long; then the thread is woken when it has ended.
    private func hasTargets(_ id: String, _ now: Moment) -> Bool {
        guard var job = jobs[id], job.lanes == nil else { return true }
        defer { jobs[id] = job }
        if job.lookup == nil {
            job.lookup = job.targetLookup(worker.selection, lanes: worker.lanes(job.message.notification.format))
            if let lookup = job.lookup { begin(lookup) }
        }
        guard let lookup = job.lookup else { return true }
        guard let result = lookup.result else { return false }
        job.lookup = nil
        switch result {
        case .success(let lanes):
            job.lanes = lanes
            return true
        case .failure(let error):
            worker.report("delivery: \(error)")
            job.pausedUntil = now.instant + Self.pause
            return false
        }
    }

    /// Returns when it has ended; where it takes long, earlier.
    private func begin(_ lookup: TargetLookup) {
        if worker.lookups.begin(lookup) { lookup.wait(for: worker.options.lookupPatience) }
        if lookup.result == nil { lookup.whenEnded { [worker] in worker.loop.wake() } }
    }

    /// For those who ask what keeps the message waiting.
    private func noteWait(_ job: inout DeliveryJob) {
        let reason = job.lanes?.lazy.compactMap(\.heldReason).first ?? outageReason(job)
        guard job.message.waitReason != reason else { return }
        job.message.waitReason = reason
        unwritten.insert(job.message.record.id)
    }

    private func outageReason(_ job: DeliveryJob) -> String? {
        let retries = job.message.retries
        guard Set(retries.map(\.platform)).contains(where: worker.channels.hasOutage) else { return nil }
        let services = retries.compactMap { retry in retry.service.map { ($0, retry.platform) } }
        return Dictionary(services) { one, _ in one }.sorted { $0.key < $1.key }.lazy
            .compactMap { [worker] in worker.channels.outageReason($0.value, service: $0.key) }.first
    }

    private func planRetries(
        _ job: inout DeliveryJob, room: Int, _ now: Moment
    ) throws(StoreError) -> [DeliveryAttempt] {
        var deliveries: [DeliveryAttempt] = []
        var waiting: [QueuedMessage.Retry] = []
        for retry in job.message.retries {
            guard isDue(retry, now), !isBlocked(retry, job), deliveries.count < room else {
                waiting.append(retry)
                continue
            }
            switch try admit(retry, job, now) {
            case .now(let delivery): deliveries.append(delivery)
            case .blocked(let obstacle, let retry):
                block(retry.lane ?? LaneName(platform: retry.platform), of: &job, by: obstacle)
                waiting.append(retry)
            case .held(let retry): waiting.append(retry)
            case .gone: break
            }
        }
        job.message.retries = waiting
        return deliveries
    }

    private func block(_ lane: LaneName, of job: inout DeliveryJob, by obstacle: DeliveryJob.Obstacle) {
        if case .heldChannel = obstacle { hasMoreWaiting = true }
        job.block(lane, by: obstacle)
    }

    private func planNew(_ job: inout DeliveryJob, room: Int, _ now: Moment) throws(StoreError) -> [DeliveryAttempt] {
        guard var lanes = job.lanes else { return [] }
        var deliveries: [DeliveryAttempt] = []
        for index in lanes.indices {
            let name = lanes[index].name
            while deliveries.count < room, job.lanes?[index].obstacle == nil,
                job.hasRoom(name.platform, retries: worker.options.retries), let id = lanes[index].targets.first
            {
                let target = QueuedMessage.Retry(
                    registrationID: id, platform: name.platform, attempts: 0, lane: name)
                switch try admit(target, job, now) {
                case .now(let delivery): deliveries.append(delivery)
                case .blocked(let obstacle, let retry):
                    block(retry.lane ?? name, of: &job, by: obstacle)
                    if retry.lane == name { continue }
                    // Since the look-up the registration has changed its app, for which it waits alone.
                    wait(retry, &job)
                case .held(let retry): wait(retry, &job)
                case .gone: break
                }
                lanes[index].targets.removeFirst()
                job.message.cursors[name] = id
            }
        }
        for index in lanes.indices { job.lanes?[index].targets = lanes[index].targets }
        // The next round begins with another app.
        if let first = job.lanes?.first, lanes.count > 1 { job.lanes = Array((job.lanes ?? []).dropFirst()) + [first] }
        return deliveries
    }

    /// Whether it is worth looking for targets. Where thousands of messages wait, only those are taken in hand whose time
    /// has come and whose service has room.
    private func mayAct(_ job: DeliveryJob, _ now: Moment) -> Bool {
        if let until = job.pausedUntil, until > now.instant { return false }
        if let lookup = job.lookup { return lookup.result != nil }
        guard !isOverdue(job, now), let lanes = job.lanes else { return true }
        let blocked = lanes.filter { isBlocked($0, now) }.map(\.name)
        let retries = worker.options.retries
        return lanes.contains {
            !$0.targets.isEmpty && !blocked.contains($0.name) && job.hasRoom($0.name.platform, retries: retries)
        }
            || job.message.retries.contains { isDue($0, now) && !($0.lane.map(blocked.contains) ?? false) }
    }

    private func isBlocked(_ lane: DeliveryJob.Lane?, _ now: Moment) -> Bool {
        lane?.obstacle.map { isThere($0, now) } ?? false
    }

    private func isBlocked(_ retry: QueuedMessage.Retry, _ job: DeliveryJob) -> Bool {
        job.lanes?.contains { $0.name == retry.lane && $0.obstacle != nil } ?? false
    }

    private func isThere(_ obstacle: DeliveryJob.Obstacle, _ now: Moment) -> Bool {
        switch obstacle {
        case .fullService(let service): throttle.isFull(service)
        case .heldChannel(let channel): admission(to: channel, now) == .held
        }
    }

    /// Whether a push may be sent by the channel; one of which a probe is in flight already may not.
    func admission(to channel: PushChannel, _ now: Moment) -> PushChannel.Admission {
        let admission = channel.admission(now.instant)
        return admission == .probe && throttle.probed.contains(channel.name) ? .held : admission
    }

    private func isOverdue(_ job: DeliveryJob, _ now: Moment) -> Bool {
        now.date >= job.message.record.dueAt + worker.options.abandonSeconds
    }

    private func isDue(_ retry: QueuedMessage.Retry, _ now: Moment) -> Bool {
        retry.dueAt.map { $0 <= now.instant } ?? true
    }

    private enum Admission {
        case now(DeliveryAttempt)
        /// The lane of the target has to wait.
        case blocked(DeliveryJob.Obstacle, QueuedMessage.Retry)
        /// The service or the device is left alone until the retry is due.
        case held(QueuedMessage.Retry)
        /// The message does not reach that registration any more.
        case gone
    }

    /// Makes a target's push, and counts it as in flight if there is room.
    /// - Parameter retry: with the service where it went the last time. To make a push ready costs far more than to see
    ///   that there is no place for it.
    private func admit(_ retry: QueuedMessage.Retry, _ job: DeliveryJob, _ now: Moment) throws(StoreError) -> Admission
    {
        var retry = retry
        if let service = retry.service, let refusal = refusal(of: service, retry, now) { return refusal }
        guard let target = try job.target(retry.registrationID, worker.selection) else { return .gone }
        let lane = job.lane(of: target.description)
        (retry.lane, retry.platform) = (lane, lane.platform)
        let channel = worker.channel(for: target)
        let admission = channel.map { self.admission(to: $0, now) }
        if let channel, admission == .held { return .blocked(.heldChannel(channel), retry) }
        if let until = holdUntil(target, channel, now) {
            (retry.service, retry.dueAt) = (nil, until)
            return .held(retry)
        }
        let delivery = DeliveryAttempt(
            job.message.notification, to: target, attempts: retry.attempts, by: channel, isProbe: admission == .probe)
        guard case .success = delivery.request else { return .now(delivery) }
        if let refusal = refusal(of: delivery.service, retry, now) { return refusal }
        begin(delivery)
        return .now(delivery)
    }

    private func holdUntil(_ target: Target, _ channel: PushChannel?, _ now: Moment) -> ContinuousClock.Instant? {
        guard !throttle.devices.isEmpty else { return nil }
        return throttle.devices.holdUntil(DeliveryAttempt.device(target, channel), now: now.instant)
    }

    /// Counts the push as in flight.
    func begin(_ delivery: DeliveryAttempt) {
        throttle.begin(delivery.service, most: delivery.channel?.maximumInFlight)
        throttle.devices.begin(delivery)
        if delivery.isProbe, let channel = delivery.channel { throttle.probed.insert(channel.name) }
    }

    private func refusal(of service: String, _ retry: QueuedMessage.Retry, _ now: Moment) -> Admission? {
        var retry = retry
        retry.service = service
        if let until = throttle.backoffUntil(service, now: now.instant) {
            retry.dueAt = until
            return .held(retry)
        }
        return throttle.isFull(service) ? .blocked(.fullService(service), retry) : nil
    }

    private func sendAll(_ deliveries: [DeliveryAttempt], _ id: String) {
        for delivery in deliveries {
            switch delivery.request {
            case .success: send(delivery, id)
            case .failure(let refusal):
                guard var job = jobs[id] else { continue }
                job.count(-1, underWay: delivery.target.description)
                settle(delivery, PushResult(refusal), &job)
                jobs[id] = job
                unwritten.insert(id)
            }
        }
    }

    /// Only for a push that is counted as in flight.
    func send(_ delivery: DeliveryAttempt, _ id: String) {
        guard case .success(let request) = delivery.request else { return }
        let (completions, epoch) = (worker.completions, self.epoch)
        delivery.channel?.send(request) {
            completions.add(Completion(epoch: epoch, messageID: id, delivery: delivery, result: $0))
        }
    }
}
