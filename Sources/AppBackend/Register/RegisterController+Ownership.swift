// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import NotificationHub
import Store
import Text

/// Which user owns a device: the rules that all calls of this controller share.
///
/// The store decides the owner of an id, atomically; the hub is updated afterwards. A record is marked as pending while
/// the hub, or other registrations of the same handle, still differ from it. The next request for the id finishes what a
/// failure interrupted.
extension RegisterController {
    /// How often a decision is repeated when another request changes the same record at the same time.
    static let maximumAttempts = 4
    /// How often one call writes to the hub: each time after the first because another request changed the record.
    static let maximumHubWrites = 32

    /// What a user wants to be true of a registration id.
    struct Claim {
        let id: RegistrationID
        /// The owner.
        let user: String
        let handle: DeviceHandle
        /// Without the user's own.
        let tags: [Tag]
        /// Of the older call and of installations.
        var installationID: String?
        /// Whether it is of the older call, whose registrations have a template.
        var hasTemplate = false
        /// The roles that the user's token gives.
        var tokenRoles: [String] = []
    }

    /// Makes it true, at the store, at the hub, and for the device's other registrations.
    /// - Throws: `Problem` 403, when the id is another user's and the handle is not the one registered under it;
    ///   `HubError.registrationGone`, when the id is not known here any more; `RegistrationForgotten`, when it is not to
    ///   the hub.
    func register(_ claim: Claim, _ hub: any Hub) throws -> DeviceRecord {
        try registrationLock.withLock(claim.handle.channel) { try registerInTurn(claim, hub) }
    }

    /// Takes back what was registered while its user was removed, or lost the right to one of the tags, and follows a change of
    /// the user's roles. The process that removed the user may have searched before this record was there.
    private func confirm(_ device: DeviceRecord, _ claim: Claim, _ hub: any Hub) throws {
        guard let account = try authenticator.account(ofOwner: claim.user) else {
            _ = try RegistrationRemoval(store: store, hub: hub, now: now).remove(device.id) {
                $0.owner.hasSameBytes(as: claim.user)
            }
            throw Problem(.userRemoved, "This user was removed while the device was registered.")
        }
        // Another process gave it to another user meanwhile, and checks that user's rights.
        guard device.owner.hasSameBytes(as: claim.user) else { return }
        let rights = policy.rights(of: account.principal.record, tokenRoles: claim.tokenRoles)
        let change = try TagNarrowing(store: store, hub: hub, now: now).narrow(device, to: rights)
        guard change != .lostClaims else {
            throw Problem(.tagNotAllowed, "You may not claim all of these tags any more.", field: "Tags")
        }
    }

    func registerInTurn(_ claim: Claim, _ hub: any Hub) throws -> DeviceRecord {
        for _ in 0..<Self.maximumAttempts {
            guard let record = try writeOwnership(claim, hub), try syncHub(record, claim, hub) else { continue }
            let device = record.needsReconciliation ? try removeSuperseded(record, claim, hub) : record
            try confirm(device, claim, hub)
            return device
        }
        throw StoreError.conflict
    }

    /// Writes the owner of the id, its handle and its tags.
    /// - Returns: nil, when another request changed the record meanwhile.
    private func writeOwnership(_ claim: Claim, _ hub: any Hub) throws -> DeviceRecord? {
        guard var device = try store.device(claim.id.description) else { throw HubError.registrationGone }
        let platform = claim.handle.platform.rawValue
        let isSameHandle = device.has(claim.handle)
        let isSameOwner = device.owner.hasSameBytes(as: claim.user)
        if !isSameOwner, device.isBeingRemoved {
            // The removal may have been interrupted. The device does not wait for it, but asks for another id.
            _ = try hub.delete(claim.id)
            _ = try store.removeUnchanged(device)
            throw HubError.registrationGone
        }
        if !isSameOwner {
            guard isSameHandle else { throw Problem.foreignRegistration }
            // The device has changed hands. If anything fails from here on, it receives nothing meant for its former user.
            _ = try hub.delete(claim.id)
            device.alias = nil
        }
        let known = device
        device.needsReconciliation = device.needsReconciliation || !isSameOwner || !isSameHandle || device.isGone
        device.gone = nil
        device.owner = claim.user
        device.platform = platform
        device.handle = claim.handle.channel
        device.tags = claim.tags.map(\.description)
        device.installationID = claim.installationID
        if let installationID = claim.installationID { device.alias = claim.hasTemplate ? nil : installationID }
        // An app registers at each start, and mostly has nothing new to say.
        let isRecent = RegistrationDescription.isRecent(known.updatedAt, now: now())
        if !device.needsReconciliation, isRecent, device.hasSameBytes(as: known) { return known }
        device.updatedAt = now()
        return try replace(device, hub)
    }

    /// Writes the record to the hub, until the store still has that version afterwards.
    ///
    /// Of requests that overlap, any may be the last to reach the hub. So each returns only when the store still has what
    /// it wrote. Each repetition writes what the store has, not what the request wanted, so the loop ends when the other
    /// requests have decided. A hub that had the record already was not reached by this request.
    /// - Returns: false, when the record has another handle meanwhile, or was marked as gone: decide again.
    private func syncHub(_ decision: DeviceRecord, _ claim: Claim, _ hub: any Hub) throws -> Bool {
        var record = decision
        for _ in 0..<Self.maximumHubWrites {
            guard try writeAtHub(record, claim, hub) else { return true }
            guard let current = try store.device(record.id) else {
                // Deleted meanwhile, perhaps before this request wrote to the hub.
                _ = try hub.delete(claim.id)
                throw HubError.registrationGone
            }
            if current.version == record.version { return true }
            guard !current.platform.isEmpty else {
                // Being deleted: that request may have reached the hub before this one did.
                _ = try hub.delete(claim.id)
                throw HubError.registrationGone
            }
            let isSameInstallation =
                (current.installationID.map { Array($0.utf8) } == record.installationID.map { Array($0.utf8) })
            guard current.handle.hasSameBytes(as: record.handle), isSameInstallation,
                current.hasTemplate == record.hasTemplate, !current.isGone
            else {
                return false
            }
            record = current
        }
        throw StoreError.conflict
    }

    /// - Returns: false, when the hub had it already and was left as it is.
    private func writeAtHub(_ record: DeviceRecord, _ claim: Claim, _ hub: any Hub) throws -> Bool {
        let tags = try Self.hubTags(of: record, at: hub)
        let template = record.hasTemplate ? Payload.template(for: claim.handle.platform) : nil
        let registration = RegistrationDescription(
            id: claim.id, tags: tags, handle: claim.handle, template: template)
        do throws(HubError) {
            guard record.needsReconciliation else { return try hub.ensure(registration) }
            // Also what the hub has already: it may be about to be removed, because the device was gone.
            _ = try hub.createOrUpdate(registration)
            return true
        } catch {
            // The id will never work again.
            guard error == .registrationGone else { throw error }
            _ = try store.removeDevice(record.id, version: record.version)
            throw RegistrationForgotten()
        }
    }

    /// A device is one user's, and has one registration of each kind (native, or the older call's with a template).
    /// Others of its handle are of the time before, and of users whose notifications it must not receive any more. Those of its
    /// user are removed also if the hub does not have them. A hub elsewhere ends registrations and says nothing, so all of the user's
    /// devices are looked at. The local hub ends one after it was marked as gone, and those are found without the others.
    /// - Returns: the record as it then is.
    private func removeSuperseded(
        _ record: DeviceRecord, _ claim: Claim, _ hub: any Hub
    ) throws -> DeviceRecord {
        let userTag = try TagPolicy.userTag(record.owner)
        let others = try hub.registrations(channel: record.handle).filter { other in
            guard other.id != claim.id, other.platform.family == claim.handle.platform.family else { return false }
            let isOthers = other.tags.contains { TagPolicy.isUserTag($0) && $0 != userTag }
            return isOthers || (other.template != nil) == record.hasTemplate
        }
        let family = claim.handle.platform.family
        let candidates =
            hub.isLocal
            ? try store.goneDevices(owner: record.owner, handle: record.handle)
            : try store.devices(owner: record.owner)
        let own = candidates.filter { other in
            other.handle.hasSameBytes(as: record.handle) && other.hasTemplate == record.hasTemplate
                && Platform(rawValue: other.platform)?.family == family
                && !others.contains { $0.id?.description == other.id }
        }
        try deleteSuperseded(others.compactMap(\.id) + own.compactMap { RegistrationID($0.id) }, by: record, hub)
        guard var current = try store.device(record.id) else { throw HubError.registrationGone }
        // The request that changed it meanwhile finishes it.
        guard current.version == record.version else { return current }
        current.needsReconciliation = false
        // Where that is lost with the power, the next request finds nothing to do, and says so once more.
        return try store.replace(current, durably: false) ?? current
    }

    /// Deletes other registrations of a device, whichever user has them: first in the store, so that requests at work on
    /// them notice, then at the hub; but only while the successor is unchanged.
    ///
    /// If several requests delete each other's registration concurrently, at least one survives: a delete commits only
    /// while its successor is unchanged. A request whose own record is gone stops and answers 410.
    func deleteSuperseded(_ ids: [RegistrationID], by successor: DeviceRecord, _ hub: any Hub) throws {
        // A hub may list one twice, on pages that overlap: also the successor itself.
        for id in ids where id.description != successor.id {
            guard try deleteRecord(id, supersededBy: successor) else { return }
            _ = try hub.delete(id)
        }
    }

    /// - Returns: false, when the successor is not at the version that was read any more.
    private func deleteRecord(_ id: RegistrationID, supersededBy successor: DeviceRecord) throws(StoreError) -> Bool {
        for _ in 0..<Self.maximumAttempts {
            guard let device = try store.device(id.description) else { return true }
            do throws(StoreError) {
                _ = try store.removeDevice(device.id, version: device.version, inFavorOf: successor)
                return true
            } catch {
                guard error == .conflict else { throw error }
            }
            guard try store.device(successor.id)?.version == successor.version else { return false }
        }
        throw .conflict
    }
}
