// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import NotificationHub
import Store
import Text

/// Takes tags from registrations whose user may not claim them any more, and has the tags of roles follow the user's.
struct TagNarrowing: Sendable {
    let store: any StateStore
    let hub: any Hub
    let now: @Sendable () -> Timestamp

    /// What became of a device's tags.
    enum Change {
        case none
        /// It has tags of roles besides.
        case gainedRoles
        /// It has lost tags of roles.
        case lostRoles
        /// It has lost tags that its user had claimed.
        case lostClaims

        var isLoss: Bool { self == .lostRoles || self == .lostClaims }

        fileprivate init(from tags: [String], to settled: [String]) {
            let lost = tags.filter { tag in !settled.contains { $0.hasSameBytes(as: tag) } }
            if lost.isEmpty {
                self = settled.count > tags.count ? .gainedRoles : .none
            } else {
                self = lost.allSatisfy(TagPolicy.isRoleTag) ? .lostRoles : .lostClaims
            }
        }
    }

    /// The record changes first, and is marked as pending; then the hub gets what the record says, until the record
    /// is unchanged afterwards. When the hub cannot be reached, the next call writes it.
    /// A device that is gone is left as it is: it has no tags at the hub, and claims them again when it comes back.
    /// - Parameter rights: of the device's user.
    func narrow(_ device: DeviceRecord, to rights: Rights) throws -> Change {
        var device = device
        for _ in 0..<RegisterController.maximumAttempts {
            let settled = rights.settled(device.tags)
            let change = Change(from: device.tags, to: settled)
            guard change != .none, !device.isGone else { return .none }
            device.tags = settled
            device.needsReconciliation = true
            device.updatedAt = now()
            if let narrowed = try store.replace(device) {
                try syncHub(narrowed)
                return change
            }
            guard let current = try store.device(device.id), current.owner.hasSameBytes(as: device.owner) else {
                return .none
            }
            device = current
        }
        throw StoreError.conflict
    }

    /// Writes the tags of a record to the hub. The hub alone knows its handle with a browser's keys. A registration that the hub
    /// does not have any more is marked as gone.
    func syncHub(_ device: DeviceRecord) throws {
        guard let id = RegistrationID(device.id) else { return }
        var record = device
        for _ in 0..<RegisterController.maximumHubWrites {
            guard var registration = try hub.registration(id) else {
                return try store.noteGone(record.id, reason: DeviceRecord.Gone.notFound, now: now())
            }
            registration.tags = try RegisterController.hubTags(of: record, at: hub)
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
