// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import NotificationHub
import Store
import Text

/// Removes registrations from the store and from the hub, also while other requests write them.
struct RegistrationRemoval: Sendable {
    let store: any StateStore
    let hub: any Hub
    let now: @Sendable () -> Timestamp

    /// The record is emptied first, which fails every other request at work on it, and removed last. When the hub cannot
    /// be reached, the record is still there, and so is its owner.
    /// - Parameter isWanted: is asked for the record as it is then.
    /// - Returns: whether there was such a record, and it was wanted.
    /// - Throws: what `isWanted`, the store and the hub throw.
    func remove(_ id: String, where isWanted: (DeviceRecord) throws -> Bool) throws -> Bool {
        for _ in 0..<RegisterController.maximumAttempts {
            guard let device = try store.device(id), try isWanted(device) else { return false }
            guard let emptied = try emptied(device) else { continue }
            if let registrationID = RegistrationID(id) { _ = try hub.delete(registrationID) }
            if try store.removeUnchanged(emptied) { return true }
        }
        throw StoreError.conflict
    }

    /// - Returns: nil, when the record is not at the version that was read any more.
    private func emptied(_ device: DeviceRecord) throws(StoreError) -> DeviceRecord? {
        // An earlier call emptied it and was interrupted.
        guard !device.isBeingRemoved else { return device }
        var device = device
        device.platform = ""
        device.handle = ""
        device.needsReconciliation = true
        device.gone = nil
        device.updatedAt = now()
        return try store.replace(device)
    }
}

extension DeviceRecord {
    /// Whether a request has begun to remove it. An id that was handed out and not used yet is not pending.
    var isBeingRemoved: Bool { needsReconciliation && platform.isEmpty }
}

extension StateStore {
    /// - Returns: nil, when the record is not at the version that was read any more.
    func replace(_ device: DeviceRecord, durably: Bool = true) throws(StoreError) -> DeviceRecord? {
        do throws(StoreError) {
            return try putDevice(device, durably: durably)
        } catch {
            guard error == .conflict else { throw error }
            return nil
        }
    }

    /// - Returns: false, when the record is not at the version that was read any more.
    func removeUnchanged(_ device: DeviceRecord) throws(StoreError) -> Bool {
        do throws(StoreError) {
            _ = try removeDevice(device.id, version: device.version)
            return true
        } catch {
            guard error == .conflict else { throw error }
            return false
        }
    }
}
