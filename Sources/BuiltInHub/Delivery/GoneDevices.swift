// SPDX-License-Identifier: Apache-2.0
import NotificationHub
import Store
import System

/// Removes the registrations of devices that their push services call gone. Any thread may ask for it.
final class GoneDevices: Sendable {
    private static let pageSize = 500

    private let store: any HubStore
    private let now: @Sendable () -> Int64
    private let report: @Sendable (String) -> Void
    private let breaker = Lock(RemovalBreaker())

    /// - Parameters:
    ///   - now: seconds since 1970.
    ///   - report: receives what the operator should know.
    init(store: any HubStore, now: @escaping @Sendable () -> Int64, report: @escaping @Sendable (String) -> Void) {
        (self.store, self.now, self.report) = (store, now, report)
    }

    /// Does nothing if the registration was renewed since it was read, or since the device was gone.
    /// - Parameter goneSince: seconds since 1970; nil: the service does not say.
    func remove(_ target: Target, goneSince: Int64?) {
        guard let id = target.registrationID, let version = target.version else { return }
        if let goneSince, let updatedAt = target.updatedAt, updatedAt.seconds > goneSince { return }
        do throws(StoreError) {
            let devices = RemovalBreaker.Devices(
                platform: target.description.platform.family, app: target.description.app)
            guard try mayRemove(devices) else { return }
            _ = try store.removeHubRegistration(id, version: version)
        } catch {
            if error != .conflict { report("delivery: a dead registration stays: \(error)") }
        }
    }

    private func mayRemove(_ devices: RemovalBreaker.Devices) throws(StoreError) -> Bool {
        let now = now()
        let verdict = try breaker.withLock { breaker throws(StoreError) in
            try breaker.judge(devices, now: now) { limit throws(StoreError) in try count(devices, limit: limit) }
        }
        if verdict == .keepFrom {
            report("push: within an hour the service called too many devices of \(devices) gone; they stay")
        }
        return verdict == .remove
    }

    /// - Returns: `limit`, if there are as many registrations or more.
    private func count(_ devices: RemovalBreaker.Devices, limit: Int) throws(StoreError) -> Int {
        var (count, after) = (0, String?.none)
        repeat {
            let page = try store.hubRegistrations(after: after, limit: Self.pageSize)
            count += page.elements.count { $0.platform?.family == devices.platform && $0.app == devices.app }
            after = page.next
        } while after != nil && count < limit
        return min(count, limit)
    }
}
