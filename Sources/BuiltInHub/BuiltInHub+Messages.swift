// SPDX-License-Identifier: Apache-2.0
import NotificationHub
internal import Push
import Store
import Text

/// Messages, and what became of them.
extension BuiltInHub {
    /// A message that no device is addressed by is not queued, and the receipt says so; to one that waits for its time there may be
    /// devices by then.
    package func send(
        _ notification: HubNotification, to audience: HubAudience
    ) throws(ServableHubError) -> SendReceipt {
        let record = newRecord(notification.format, audience, notBefore: notification.notBefore)
        var receipt = SendReceipt(notificationID: record.id, trackingID: trackingID)
        if let worker, worker.delivers(notification.format), try mayHaveTarget(record, notification.format, audience) {
            try enqueue(QueuedMessage(notification, to: audience.queued, record: record), worker)
        } else {
            receipt.hasNoTarget = try skip(notification, audience, record).isEmpty
        }
        return receipt
    }

    package func sendTest(
        _ notification: HubNotification, to audience: HubAudience
    ) throws(ServableHubError) -> TestSend {
        // Of all reached devices it would tell ids and handles.
        let hub = reachingOwn
        let record = hub.newRecord(notification.format, audience)
        guard let worker, worker.delivers(notification.format) else {
            return TestSend(notificationID: record.id, results: try hub.skip(notification, audience, record))
        }
        var targets: [Target] = []
        try hub.forEachTarget(notification.format, audience) { target in
            if targets.count < TestSend.maximumResults { targets.append(target) }
        }
        let outcomes = worker.deliver(notification, to: targets)
        let results = try finish(record, of: notification.sender, zip(targets, outcomes))
        return TestSend(notificationID: record.id, results: results)
    }

    /// The same hub, whose sends reach its own registrations alone.
    private var reachingOwn: BuiltInHub {
        var hub = self
        hub.selection.namespaces = [namespace]
        return hub
    }

    package func message(_ id: String, asManager: Bool) throws(ServableHubError) -> NotificationDetails {
        guard RegistrationID(id) != nil else { throw .noSuchMessage }
        let found = try storing { () throws(StoreError) in try details(id, asManager, now()) }
        guard let found else { throw .noSuchMessage }
        return found
    }

    /// Ends the wait of a message for its time, unless that has come: then it may be under way.
    package func cancel(_ id: String, asManager: Bool) throws(ServableHubError) {
        guard RegistrationID(id) != nil, let time = MessageID.notBefore(in: id), let worker else {
            throw .noSuchMessage
        }
        let isCancelled = try storing { () throws(StoreError) -> Bool in
            guard time.seconds > now(), let message = try waiting(id, asManager, worker) else { return false }
            try worker.store.removeQueuedHubMessages([message.stored])
            return time.seconds > now()
        }
        guard isCancelled else { throw .noSuchMessage }
    }

    private func newRecord(
        _ format: HubNotification.Format, _ audience: HubAudience, notBefore: Int64? = nil
    ) -> MessageRecord {
        let time = now()
        // A time that has come means nothing.
        let later = notBefore.flatMap { $0 > time ? $0 : nil }
        let expression: TagExpression? = if case .tags(let expression) = audience { expression } else { nil }
        return MessageRecord(
            id: MessageID.make(now: time, notBefore: later), format: format, tags: expression,
            namespaces: selection.namespaces, origin: namespace, now: time, notBefore: later)
    }

    private func enqueue(_ message: QueuedMessage, _ worker: DeliveryWorker) throws(ServableHubError) {
        do throws(StoreError) {
            try worker.enqueue(message)
        } catch {
            let sender = HubNotification.name(ofSender: message.notification.sender)
            switch error {
            case .quotaExceeded: throw .queueIsFull(for: sender)
            case .shareExceeded: throw .shareIsFull(of: sender)
            default: throw ServableHubError(error)
            }
        }
    }

    /// Nothing is sent where there is no channel, and the record says so. A native notification that is too large
    /// for its service is told apart, as Azure does at delivery; a template's size is not known before it is filled in.
    private func skip(
        _ notification: HubNotification, _ audience: HubAudience, _ record: MessageRecord
    ) throws(ServableHubError) -> [TestSend.Result] {
        let isTooLarge = notification.body.count > notification.format.maximumPayload
        let outcome: PushOutcome = isTooLarge ? .invalidNotificationSize : .skipped
        var targets: [Target] = []
        try forEachTarget(notification.format, audience) { targets.append($0) }
        return try finish(record, of: notification.sender, targets.lazy.map { ($0, outcome) })
    }

    /// - Returns: what became of the first targets.
    private func finish(
        _ begun: MessageRecord, of sender: String?, _ outcomes: some Sequence<(Target, PushOutcome)>
    ) throws(ServableHubError) -> [TestSend.Result] {
        var (record, results) = (begun, [TestSend.Result]())
        for (target, outcome) in outcomes {
            record.add(target, outcome)
            if results.count < TestSend.maximumResults { results.append(TestSend.Result(target, outcome)) }
        }
        (record.startedAt, record.endedAt) = (record.enqueuedAt, record.enqueuedAt)
        let finished = record.stored(sender: sender)
        try storing { () throws(StoreError) in try store.putHubMessage(finished) }
        return results
    }

    private func mayHaveTarget(
        _ record: MessageRecord, _ format: HubNotification.Format, _ audience: HubAudience
    ) throws(ServableHubError) -> Bool {
        guard record.notBefore == nil, case .tags(let expression) = audience else { return true }
        return try storing { () throws(StoreError) in
            try selection.hasTarget(format, expression)
        }
    }

    private func forEachTarget(
        _ format: HubNotification.Format, _ audience: HubAudience, _ visit: (Target) -> Void
    ) throws(ServableHubError) {
        switch audience {
        case .devices(let handles):
            for (place, handle) in handles.enumerated() {
                visit(Target(description: RegistrationDescription(handle: handle), place: place))
            }
        case .tags(let expression):
            try storing { () throws(StoreError) in
                try selection.forEach(format, expression, visit)
            }
        }
    }

    /// A message is put among those that are done before it leaves the queue, so who misses it in both looks again.
    private func details(
        _ id: String, _ asManager: Bool, _ now: Int64
    ) throws(StoreError) -> NotificationDetails? {
        if let record = try finished(id, asManager, now) { return record.details }
        guard let worker else { return nil }
        if let message = try waiting(id, asManager, worker) {
            var details = message.record.details
            details.waitReason = message.waitReason
            details.serviceReason = message.serviceReason
            return details
        }
        return try finished(id, asManager, now)?.details
    }

    /// Whether a caller may know of the message: it reaches this namespace, and this hub took it, or the caller manages the hub.
    private func shows(_ record: MessageRecord, _ asManager: Bool) -> Bool {
        record.namespaces.contains(namespace) && (asManager || record.origin ?? namespace == namespace)
    }

    /// Nil also for a message that the caller may not know of.
    private func waiting(
        _ id: String, _ asManager: Bool, _ worker: DeliveryWorker
    ) throws(StoreError) -> QueuedMessage? {
        guard let waiting = try worker.store.queuedHubMessage(id, notBefore: MessageID.notBefore(in: id)) else {
            return nil
        }
        let message = try QueuedMessage(waiting)
        return shows(message.record, asManager) ? message : nil
    }

    /// Nil also for a message that the caller may not know of.
    private func finished(_ id: String, _ asManager: Bool, _ now: Int64) throws(StoreError) -> MessageRecord? {
        guard let message = try store.hubMessage(id, now: Timestamp(seconds: now)) else { return nil }
        var record = try MessageRecord(id: id, document: message.document)
        guard shows(record, asManager) else { return nil }
        // Written by a version that began and ended every send at once.
        record.startedAt = record.startedAt ?? record.enqueuedAt
        record.endedAt = record.endedAt ?? record.enqueuedAt
        return record
    }
}

extension ServableHubError {
    fileprivate static func queueIsFull(for sender: String) -> ServableHubError {
        .limitReached(
            .queuedMessages,
            cause: "the queue is full: as many messages wait to be delivered as may; refused is one of \(sender)")
    }

    fileprivate static func shareIsFull(of sender: String) -> ServableHubError {
        .limitReached(
            .queuedMessages,
            cause: "the queue is half full, and has as many messages of \(sender) as one sender may have")
    }
}

extension HubAudience {
    fileprivate var queued: QueuedMessage.Audience {
        switch self {
        case .tags(let expression): .tags(expression)
        case .devices(let handles): .devices(handles.map { RegistrationDescription(handle: $0) })
        }
    }
}

extension TestSend {
    /// Devices that a test send shows; Azure sends to no more than these.
    fileprivate static let maximumResults = 10
}

extension TestSend.Result {
    fileprivate init(_ target: Target, _ outcome: PushOutcome) {
        self.init(
            registrationID: target.registrationID.map { HubNamespace(of: $0).plain($0) },
            handle: target.description.handle, outcome: outcome.rawValue, isSuccess: outcome == .success)
    }
}
