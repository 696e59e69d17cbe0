// SPDX-License-Identifier: Apache-2.0
import NotificationHub
import Store
import Text

/// Room for a device whose user has as many as one user may have. No device is refused for that: accounts on which an app is
/// installed often would otherwise be locked out by devices that are long gone.
extension RegisterController {
    /// Writes the record. Where its owner has as many as one may have, the one goes that is needed least: first an id that was
    /// handed out and not used, then a device that is gone, then the device that was not renewed for longest. The last one goes for a
    /// device only, so a client that only asks for ids removes no device.
    /// - Returns: nil, when the record is not at the version that was read any more.
    func replace(_ device: DeviceRecord, _ hub: any Hub) throws -> DeviceRecord? {
        for _ in 0..<Self.maximumAttempts {
            do throws(StoreError) {
                return try store.putDevice(device)
            } catch {
                if error == .conflict { return nil }
                guard error == .quotaExceeded, let other = try leastNeeded(for: device) else { throw error }
                try remove(other, hub)
            }
        }
        throw StoreError.quotaExceeded
    }

    private func remove(_ device: DeviceRecord, _ hub: any Hub) throws {
        guard device.isLive || device.needsReconciliation else {
            _ = try store.removeUnchanged(device)
            return
        }
        _ = try RegistrationRemoval(store: store, hub: hub, now: now).remove(device.id) {
            $0.owner.hasSameBytes(as: device.owner)
        }
    }

    private func leastNeeded(for device: DeviceRecord) throws(StoreError) -> DeviceRecord? {
        try store.devices(owner: device.owner).filter { $0.id != device.id && !(device.isUnused && $0.isLive) }
            .min { $0.need < $1.need }
    }
}

extension DeviceRecord {
    /// What is needed less comes first.
    fileprivate var need: (Int, Timestamp) {
        if platform.isEmpty { return (0, updatedAt) }
        if let gone, isGone { return (1, gone.at) }
        return (2, updatedAt)
    }
}
