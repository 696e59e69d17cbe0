// SPDX-License-Identifier: Apache-2.0
import NotificationHub
internal import Push
import Store
internal import System

/// Removes the registrations of devices that their push services call gone. Any thread may ask for it.
final class GoneDevices: Sendable {
    private static let pageSize = 500

    private let store: any HubStore
    private let channels: PushChannels
    private let now: @Sendable () -> Int64
    private let report: @Sendable (String) -> Void
    private let noteGone: DeliveryWorker.GoneNote
    private let onRemoved: @Sendable (RegistrationID, Platform) -> Void
    private let breaker = Lock(RemovalBreaker())
    private let doubtful = DoubtfulDevices()

    /// - Parameters:
    ///   - now: seconds since 1970.
    ///   - report: receives what the operator should know.
    ///   - noteGone: hears of each registration before it is removed.
    ///   - onRemoved: hears of each registration that was removed.
    init(
        store: any HubStore, channels: PushChannels, now: @escaping @Sendable () -> Int64,
        report: @escaping @Sendable (String) -> Void, noteGone: @escaping DeliveryWorker.GoneNote,
        onRemoved: @escaping @Sendable (RegistrationID, Platform) -> Void
    ) {
        (self.store, self.channels, self.now, self.report) = (store, channels, now, report)
        (self.noteGone, self.onRemoved) = (noteGone, onRemoved)
    }

    /// Does nothing if the registration was renewed since it was read, or since the device was gone.
    /// - Parameters:
    ///   - outcome: of the message that the device did not get.
    ///   - goneSince: seconds since 1970; nil: the service does not say.
    func remove(_ target: Target, _ outcome: PushOutcome, goneSince: Int64?) {
        guard let id = target.registrationID, let version = target.version else { return }
        if let goneSince, let updatedAt = target.updatedAt, updatedAt.seconds > goneSince { return }
        reportingFailure { () throws(StoreError) in
            guard try mayRemove(target, isRemoved: true) else { return }
            try remove(target, id, version: version, outcome)
        }
    }

    /// If the note fails, the registration stays, and the next message tries it again. Those of the served hub are no user's,
    /// and their stored ids are no `RegistrationID`.
    private func remove(
        _ target: Target, _ id: String, version: Int, _ outcome: PushOutcome
    ) throws(StoreError) {
        if let id = RegistrationID(id) {
            try noteGone(id, outcome) { () throws(StoreError) in
                try store.hubRegistration(id.description)?.version == version
            }
        }
        if try store.installation(of: id) != nil {
            _ = try store.removeOfInstallation(id, withChannel: true, now: now()) { $0 == version }
            return
        }
        guard try store.removeHubRegistration(id, version: version), let id = RegistrationID(id) else { return }
        onRemoved(id, target.description.platform)
    }

    private func reportingFailure(_ remove: () throws(StoreError) -> Void) {
        do throws(StoreError) {
            try remove()
        } catch {
            if error != .conflict { report("delivery: a dead registration stays: \(error)") }
        }
    }

    // MARK: Devices that may be of another app

    /// The channels whose credential is probably not that of the app.
    var doubts: [DoubtfulDevices.Doubt] { doubtful.doubts(at: now()) }

    /// A service calls the device another sender's. It counts as gone for the breaker, and its registration is removed when the
    /// service says so again after an hour and has taken the credential for another device meanwhile.
    func doubt(_ target: Target, of channel: PushChannel?, _ outcome: PushOutcome, reason: String) {
        guard let channel = channel?.name, let id = target.registrationID, let version = target.version else { return }
        let now = now()
        let judgement = doubtful.note(id, version: version, refusedBy: channel, at: now)
        guard judgement.isNew || judgement.isProven else { return }
        reportingFailure { () throws(StoreError) in
            let mayRemove = try mayRemove(target, isRemoved: judgement.isProven)
            if doubtful.beginDoubt(channel, reason: reason, isFlood: !mayRemove, at: now) {
                report("push: devices of \(channel) are refused: \(reason)")
            }
            guard mayRemove, judgement.isProven else { return }
            try remove(target, id, version: version, outcome)
            doubtful.forget(id, of: channel)
        }
    }

    /// The service has taken a message for the device.
    func noteReached(_ target: Target, by channel: PushChannel?) {
        guard let channel else { return }
        doubtful.note(target.registrationID, reachedBy: channel.name, at: now())
    }

    private func mayRemove(_ target: Target, isRemoved: Bool) throws(StoreError) -> Bool {
        let (platform, now) = (target.description.platform.family, now())
        // A device that names the default app is as one that names none.
        let devices = RemovalBreaker.Devices(
            platform: platform, app: channels.otherApp(platform, target.description.app),
            namespace: HubNamespace(of: target.registrationID ?? ""))
        let verdict = try breaker.withLock { breaker throws(StoreError) in
            try breaker.judge(devices, now: now, isRemoved: isRemoved) { limit throws(StoreError) in
                try count(devices, limit: limit)
            }
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
            count += page.elements.count {
                $0.namespace == devices.namespace && $0.platform?.family == devices.platform
                    && channels.otherApp(devices.platform, $0.app) == devices.app
            }
            after = page.next
        } while after != nil && count < limit
        return min(count, limit)
    }
}
