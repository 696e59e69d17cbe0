// SPDX-License-Identifier: Apache-2.0
import HTTP
import NotificationHub
internal import Push
import Store
import System

extension Courier {
    /// Delivers at once, on the caller's thread, for test sends: their answer tells each device's fate. Each target is
    /// tried once.
    /// - Returns: the outcomes, in the order of the targets.
    func deliver(_ notification: HubNotification, to targets: [Target]) -> [PushOutcome] {
        let planned = targets.map { target in
            PlannedDelivery(
                notification, to: target, attempts: 0, driver: drivers[target.description.platform])
        }
        let results = Lock<[Int: Result<Response, any Error>]>([:])
        let answered = Semaphore()
        var expected = 0
        for (index, delivery) in planned.enumerated() {
            guard case .success(let request) = delivery.request else { continue }
            expected += 1
            sender.send(request) { result in
                results.withLock { $0[index] = result }
                answered.signal()
            }
        }
        // The sender ends every request within its own deadline.
        for _ in 0..<expected { answered.wait() }
        return planned.enumerated().map { index, delivery in
            if case .failure(let refusal) = delivery.request { return refusal.outcome }
            guard let answer = results.withLock({ $0[index] }) else { return .unknownError }
            let result = PushResult(answer, driver: drivers[delivery.platform])
            if case .removeRegistration = result.action { remove(delivery.target) }
            return result.outcome
        }
    }

    /// Removes the registration of a device that its service calls gone, unless it was renewed since it was read.
    func remove(_ target: Target) {
        guard let id = target.registrationID, let version = target.version else { return }
        do throws(StoreError) {
            _ = try store.removeHubRegistration(id, version: version)
        } catch {
            if error != .conflict { report("delivery: a dead registration stays: \(error)") }
        }
    }
}
