// SPDX-License-Identifier: Apache-2.0
import HTTP
import NotificationHub
internal import Push
internal import System

extension DeliveryWorker {
    /// Delivers at once, on the caller's thread, for test sends: their answer tells each device's fate. Each target is
    /// tried once, or once in each environment of its service.
    /// - Returns: the outcomes, in the order of the targets.
    func deliver(_ notification: HubNotification, to targets: [Target]) -> [PushOutcome] {
        let first = targets.map { target in
            DeliveryAttempt(notification, to: target, attempts: 0, by: channel(for: target))
        }
        let results = send(first)
        let again = zip(first, results).map { delivery, result in elsewhere(delivery, result, notification) }
        let secondResults = send(again.compactMap(\.self))
        var second = zip(again.compactMap(\.self), secondResults).makeIterator()
        return zip(zip(first, results), again).map { done, other in
            guard other != nil, let last = second.next() else { return conclude(done.0, done.1) }
            return conclude(last.0, last.1)
        }
    }

    /// Sends all of them, and waits for the results. Those whose channel is held are not sent.
    private func send(_ deliveries: [DeliveryAttempt]) -> [PushResult] {
        let results = Lock<[Int: PushResult]>([:])
        let answered = Semaphore()
        var expected = 0
        for (index, delivery) in deliveries.enumerated() {
            guard case .success(let request) = delivery.request, let channel = delivery.channel,
                channel.admission(clock()) != .held
            else { continue }
            expected += 1
            channel.send(request) { result in
                results.withLock { $0[index] = result }
                answered.signal()
            }
        }
        // The sender ends every request within its own deadline.
        for _ in 0..<expected { answered.wait() }
        return deliveries.enumerated().map { index, delivery in
            if case .failure(let refusal) = delivery.request { return PushResult(refusal) }
            return results.withLock { $0[index] } ?? PushResult(.invalidCredentials)
        }
    }

    /// The same for the other environment of the service, if the answer asks for that and the environment is there.
    func elsewhere(
        _ delivery: DeliveryAttempt, _ result: PushResult, _ notification: HubNotification
    ) -> DeliveryAttempt? {
        guard result.action == .tryOtherEnvironment, !delivery.isElsewhere,
            let channel = delivery.channel.flatMap(channels.environment)
        else { return nil }
        let other = DeliveryAttempt(
            notification, to: delivery.target, attempts: delivery.attempts, by: channel, isElsewhere: true)
        guard case .success = other.request else { return nil }
        return other
    }

    private func conclude(_ delivery: DeliveryAttempt, _ result: PushResult) -> PushOutcome {
        noteEnvironment(delivery, result)
        switch result.action {
        case .removeRegistration(let goneSince):
            goneDevices.remove(delivery.target, result.outcome, goneSince: goneSince)
        case .doubtRegistration(let reason):
            goneDevices.doubt(delivery.target, of: delivery.channel, result.outcome, reason: reason)
        default: noteReached(delivery, result)
        }
        return result.outcome
    }

    func noteReached(_ delivery: DeliveryAttempt, _ result: PushResult) {
        guard result.outcome == .success else { return }
        goneDevices.noteReached(delivery.target, by: delivery.channel)
    }

    /// Later messages for a device go at once to the environment that it was found in.
    func noteEnvironment(_ delivery: DeliveryAttempt, _ result: PushResult) {
        guard delivery.isElsewhere, result.outcome == .success, let channel = delivery.channel else { return }
        channels.note(delivery.target.description.handle, reachedBy: channel)
    }
}
