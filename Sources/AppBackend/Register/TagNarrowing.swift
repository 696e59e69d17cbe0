// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import NotificationHub
import Store
import Text

/// Takes tags from registrations whose user may not claim them any more.
struct TagNarrowing: Sendable {
    let store: any StateStore
    let hub: any Hub
    let now: @Sendable () -> Timestamp

    /// The record loses the tags first, and is marked as pending; then the hub gets what the record says, until the record
    /// is unchanged afterwards. When the hub cannot be reached, the next call writes it.
    /// - Parameter rights: of the device's user.
    /// - Returns: whether the device had tags that it may not have.
    func narrow(_ device: DeviceRecord, to rights: Rights) throws -> Bool {
        var device = device
        for _ in 0..<RegisterController.maximumAttempts {
            let permitted = rights.permitted(device.tags)
            guard permitted.count < device.tags.count else { return false }
            device.tags = permitted
            device.needsReconciliation = true
            device.updatedAt = now()
            if let narrowed = try store.replace(device) {
                try syncHub(narrowed)
                return true
            }
            guard let current = try store.device(device.id), current.owner.hasSameBytes(as: device.owner) else {
                return false
            }
            device = current
        }
        throw StoreError.conflict
    }

    /// Writes the tags of a record to the hub. The hub alone knows its handle with a browser's keys.
    func syncHub(_ device: DeviceRecord) throws {
        guard let id = RegistrationID(device.id) else { return }
        var record = device
        for _ in 0..<RegisterController.maximumHubWrites {
            guard var registration = try hub.registration(id) else { return }
            registration.tags = try RegisterController.hubTags(of: record)
            _ = try hub.createOrUpdate(registration)
            guard let current = try store.device(record.id), !current.platform.isEmpty else {
                // Removed meanwhile, perhaps before this request wrote to the hub.
                _ = try hub.delete(id)
                return
            }
            if current.version == record.version { return }
            record = current
        }
        throw StoreError.conflict
    }
}
