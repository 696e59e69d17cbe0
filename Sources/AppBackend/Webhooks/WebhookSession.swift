// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import NotificationHub
import Store
import System
import Text

/// The events that the delivering thread works on while this process holds the lease. Only that thread uses it.
final class WebhookSession {
    /// Before each try after the first, as Standard Webhooks proposes it: some three days in all.
    static let backoff = Backoff(
        [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400].map { .seconds($0) }, isSpread: true)
    /// For how long the outcome of a message is waited for, in seconds; then it is sent as it is.
    private static let outcomeSeconds: Int64 = 86_400
    /// Between two looks for one outcome.
    static let looks = Backoff(doubling: .seconds(1), to: .seconds(300))
    /// For how long an event of a receiver that this configuration does not have may wait, in seconds: a site or a process
    /// that has it may take over.
    private static let strangerSeconds: Int64 = 6 * 3_600
    /// How long outcomes are looked for before the events that are due are sent.
    private static let lookTime = Duration.seconds(2)
    /// How long the end waits for answers.
    private static let drain = Duration.seconds(2)

    private let worker: WebhookWorker
    private let lease: DeliveryLease
    private let endpoints: [String: WebhookEndpoint]
    private var events: [String: WebhookEvent] = [:]
    /// Events of receivers that are not in this configuration, and when they came.
    private var strangers: [String: Timestamp] = [:]
    /// The events that are on their way.
    private var underWay: Set<String> = []
    /// Events that are done with and may still be in the store.
    private var ended: Set<String> = []
    /// Receivers whose last answer was none, or a refusal; each is reported once.
    private var failing: Set<String> = []
    /// Receivers that have answered 410; each is reported once.
    private var gone: Set<String> = []
    /// Whether outcomes are still to be looked for, because the time for it was over.
    private var hasMoreOutcomes = false
    private var lastError: StoreError?

    init(_ worker: WebhookWorker, _ lease: DeliveryLease) {
        (self.worker, self.lease) = (worker, lease)
        endpoints = Dictionary(worker.webhooks.endpoints.map { ($0.name, $0) }) { first, _ in first }
    }

    private var webhooks: Webhooks { worker.webhooks }

    /// Delivers until the worker is stopped, or the lease is lost.
    func work() {
        var nextLook = ContinuousClock.now
        while !worker.loop.isStopping, lease.renew() {
            settle()
            attempt(forgetEnded)
            if ContinuousClock.now >= nextLook {
                attempt(look)
                attempt(findOutcomes)
                nextLook = .now + (hasMoreOutcomes ? .zero : worker.options.poll)
                // That may have taken so long that another process delivers now.
                guard !worker.loop.isStopping, lease.renew() else { break }
            }
            dispatch()
            worker.note(waiting: events.count)
            worker.loop.wait(hasMoreOutcomes ? .zero : worker.options.poll)
        }
        let deadline = ContinuousClock.now + Self.drain
        while !underWay.isEmpty, ContinuousClock.now < deadline {
            worker.loop.wait(.milliseconds(50))
            settle()
        }
        attempt(forgetEnded)
        worker.note(waiting: 0)
    }

    private func attempt(_ body: () throws(StoreError) -> Void) {
        do throws(StoreError) {
            try body()
            lastError = nil
        } catch {
            if error != lastError { webhooks.report("webhooks: \(error)") }
            lastError = error
        }
    }

    /// Takes what is new. What is for no receiver of the configuration is dropped after some hours, and some are where too many
    /// wait.
    private func look() throws(StoreError) {
        for stored in try webhooks.queue.waiting(
            in: .webhookEvents, except: ended.union(events.keys).union(strangers.keys))
        {
            if let event = WebhookEvent(stored), endpoints[event.endpoint] != nil {
                events[event.id] = event
            } else {
                strangers[stored.id] = stored.createdAt
            }
        }
        let now = webhooks.now()
        let orphans = strangers.filter { $0.value + Self.strangerSeconds <= now }.map(\.key)
        drop(orphans, "their receiver is not in the configuration any more")
        drop(
            WebhookRoom.excess(of: events.values, above: worker.options.waiting),
            "more than \(worker.options.waiting) wait")
    }

    /// - Parameter isKnown: whether the operator was told that reason before.
    private func drop(_ ids: [String], _ reason: String, isKnown: Bool = false) {
        guard !ids.isEmpty else { return }
        end(ids)
        webhooks.counter.count(.dropped, by: ids.count)
        guard !isKnown else { return }
        webhooks.report("webhooks: events were dropped (\(ids.count)): \(reason)")
    }

    private func end(_ ids: [String]) {
        ended.formUnion(ids)
        for id in ids { (events[id], strangers[id]) = (nil, nil) }
    }

    private func forgetEnded() throws(StoreError) {
        guard !ended.isEmpty else { return }
        try webhooks.queue.removeWaiting(Array(ended), from: .webhookEvents)
        ended = []
    }

    /// A clock that was set back must not prolong a wait.
    private func isDue(_ event: WebhookEvent, _ now: Timestamp) -> Bool {
        event.dueAt <= now || event.dueAt > now + 2 * 86_400
    }

    // MARK: Outcomes of messages

    /// Looks for all outcomes that are due, as far as the time for it and the worker's end allow.
    private func findOutcomes() throws(StoreError) {
        let (now, end) = (webhooks.now(), ContinuousClock.now + Self.lookTime)
        var forgotten: [String] = []
        defer { drop(forgotten, "their messages are forgotten, because their senders have sent many since") }
        hasMoreOutcomes = false
        for var event in events.values.filter({ $0.body == nil && isDue($0, now) }).sorted(by: { $0.place < $1.place })
        {
            guard !worker.loop.isStopping, ContinuousClock.now < end else {
                hasMoreOutcomes = true
                return
            }
            guard let message = try worker.store.sentMessage(event.message ?? "", now: now) else {
                forgotten.append(event.id)
                continue
            }
            let answers = message.answers(worker.hub.details(of:))
            let timeline = try MessageTimeline(message, answers, in: worker.store, now: now)
            // When the hub was to send it, which an operator's command may have put off.
            let begun = max(event.createdAt, message.expiresAt + -NotificationsController.sentSeconds)
            if timeline.isFinal || begun + Self.outcomeSeconds <= now {
                event.body = Webhooks.body(.messageCompleted, now) { json in
                    json.member("Sender", User.name(ofOwner: message.owner))
                    timeline.writeMembers(to: &json)
                }
                event.attempts = 0
            } else {
                event.dueAt = now + Self.looks.seconds(after: event.attempts)
                event.attempts += 1
            }
            events[event.id] = event
        }
    }

    // MARK: Tries

    private func dispatch() {
        let now = webhooks.now()
        var inFlight: [String: Int] = [:]
        for id in underWay { if let event = events[id] { inFlight[event.endpoint, default: 0] += 1 } }
        let due = events.values.filter { $0.body != nil && !underWay.contains($0.id) && isDue($0, now) }
            .sorted { $0.place < $1.place }
        for event in due {
            guard inFlight[event.endpoint, default: 0] < worker.options.inFlight, let body = event.body,
                let endpoint = endpoints[event.endpoint]
            else { continue }
            inFlight[event.endpoint, default: 0] += 1
            underWay.insert(event.id)
            worker.send(endpoint.request(id: event.id, body: body, now: now), event.id)
        }
    }

    private func settle() {
        for (id, outcome) in worker.takeAnswers() where underWay.remove(id) != nil {
            guard let event = events[id], let endpoint = endpoints[event.endpoint] else { continue }
            switch outcome {
            case .success(200..<300):
                webhooks.counter.count(.delivered)
                failing.remove(endpoint.name)
                gone.remove(endpoint.name)
                end([id])
            case .success(410):
                let isKnown = !gone.insert(endpoint.name).inserted
                drop([id], "\(endpoint.label) answered 410, and wants none", isKnown: isKnown)
            case .success(let status): fail(event, endpoint, "HTTP \(status)")
            case .failure(let error as any TransportFailure) where error.kind == "cancelled":
                // The site is closed: it was no try, and another site or process makes it. Here it waits a little.
                events[id]?.dueAt = webhooks.now() + Self.backoff.seconds(after: 0)
            case .failure(let error):
                fail(event, endpoint, error is any TransportFailure ? "\(error)" : "it cannot be reached")
            }
        }
    }

    /// It is tried again after a while.
    private func fail(_ event: WebhookEvent, _ endpoint: WebhookEndpoint, _ reason: String) {
        webhooks.counter.count(.failed)
        if failing.insert(endpoint.name).inserted {
            webhooks.report("webhooks: \(endpoint.label) does not take events, which are tried again: \(reason)")
        }
        let tries = Self.backoff.pauses.count
        guard event.attempts < tries else {
            return drop(
                [event.id], "\(endpoint.label) has not taken them within \(tries + 1) tries")
        }
        var event = event
        event.dueAt = webhooks.now() + Self.backoff.seconds(after: event.attempts)
        event.attempts += 1
        events[event.id] = event
        let stored = event.stored
        attempt { () throws(StoreError) in try webhooks.queue.putWaiting([stored], in: .webhookEvents) }
    }
}

extension MessageTimeline {
    /// States after which others may come.
    private static let passing: Set = ["Enqueued", "Processing", "Unknown", "Scheduled"]

    /// Whether the outcomes of all platforms stay as they are.
    fileprivate var isFinal: Bool { outcomes.allSatisfy { !Self.passing.contains($0.state) } }
}
