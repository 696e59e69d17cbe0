// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import NotificationHub
import Store

/// Ids that an app has and that are not its user's: of another backend, of a registration that the hub has given up, or of
/// the former user of the phone. The tutorials' iOS app never gives up its id, so the device is adopted: it gets a registration
/// of the caller's own, which remembers the app's id as its alias.
///
/// An alias means something to its owner alone, and is found among their devices, of which the store bounds the number. So all
/// that a user gains by giving ids of others is a registration of their own device.
extension RegisterController {
    /// An id longer than this is no backend's, in bytes.
    private static let maximumAliasBytes = 256

    /// Whether an app's id can be an alias. A path must be able to name it.
    static func canBeAlias(_ id: String) -> Bool { id.utf8.count <= maximumAliasBytes && Path.canName(id) }

    /// Registers the handle under the app's id, under the registration that has it as an alias, or under a fresh one.
    /// - Parameter isInstallation: whether it is the id of an installation, which is never a registration's own.
    /// - Throws: `HubError.registrationGone`, when the id cannot be an alias, or another request ended the registration
    ///   meanwhile; `RegistrationForgotten`, when the hub gives up the fresh one, too.
    @discardableResult func register(
        _ handle: DeviceHandle, tags: [Tag], for user: Principal, appsID: String, isInstallation: Bool = false,
        _ hub: any Hub
    ) throws -> DeviceRecord {
        let owner = user.owner
        return try registrationLock.withLock(handle.channel) {
            let register = { (id: RegistrationID) in
                let claim = Claim(
                    id: id, user: owner, handle: handle, tags: tags, installationID: isInstallation ? appsID : nil,
                    tokenRoles: user.tokenRoles)
                return try registerInTurn(claim, hub)
            }
            do {
                let known =
                    isInstallation
                    ? try aliased(appsID, of: owner).first : try registration(appsID, of: owner, handle)
                if let known { return try register(known) }
            } catch is RegistrationForgotten {
                // The record is removed, and the app goes on to use its id: a fresh one takes its place, once.
            }
            guard Self.canBeAlias(appsID) else { throw HubError.registrationGone }
            let fresh = try hub.createRegistrationID()
            try claim(fresh.description, for: owner, alias: appsID, hub)
            return try register(fresh)
        }
    }

    /// The registration that an app's id means when its user registers that handle: the one of this id, if it is the
    /// user's or of this very handle, which then changes hands; else the user's that has it as an alias.
    private func registration(
        _ appsID: String, of owner: String, _ handle: DeviceHandle
    ) throws -> RegistrationID? {
        if let id = RegistrationID(appsID), let device = try store.device(appsID),
            device.owner.hasSameBytes(as: owner) || device.has(handle)
        {
            return id
        }
        return try aliased(appsID, of: owner).first
    }

    /// The user's registrations whose app has this id.
    func aliased(_ appsID: String, of owner: String) throws(StoreError) -> [RegistrationID] {
        try store.devices(owner: owner).filter { $0.alias?.hasSameBytes(as: appsID) == true }
            .compactMap { RegistrationID($0.id) }
    }
}

extension DeviceRecord {
    /// Whether this handle is the one registered under it.
    func has(_ other: DeviceHandle) -> Bool {
        platform == other.platform.rawValue && handle.hasSameBytes(as: other.channel)
    }
}

/// The hub has given up a registration id, and its record is removed.
struct RegistrationForgotten: Error {}
