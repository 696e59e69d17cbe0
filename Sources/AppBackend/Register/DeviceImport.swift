// SPDX-License-Identifier: Apache-2.0
package import DeviceAPI
import HTTPTypes
import NotificationHub
package import Store

/// Registers devices from an operator's list, each as its app would by `PUT /api/register/{id}`.
///
/// An app that registers here knows more than any list. So a device that its user has here already is not changed, a device
/// of another user is refused, and no device of a user is removed to make room for one of the list.
package struct DeviceImport: Sendable {
    /// The log's name for the calls to the hub.
    private static let requestID = "import"

    let controller: RegisterController
    /// The number of devices that one user may have.
    var devicesPerUser = Quotas().devicesPerOwner

    /// Why a device that is right is not registered.
    package enum Refusal: Error, Equatable {
        /// Another user has registered it here.
        case anothers
        /// Its user has as many devices as one user may have.
        case full(Int)
    }

    /// Checks a device, and changes nothing.
    /// - Parameters:
    ///   - id: the id under which the app will register; nil: the list has none.
    ///   - planned: the number of the user's other devices in the list.
    /// - Returns: whether it would be registered; false, when the user has it already.
    /// - Throws: `Problem` or `Refusal`, when it would be refused; `StoreError`; `HubError`.
    package func isNew(_ registration: DeviceRegistration, id: String?, of user: User, planned: Int) throws -> Bool {
        let principal = try principal(user)
        let handle = try controller.checked(registration, of: principal).handle
        // A hub in the network is only asked when the device is registered: a check of a long list would take hours.
        switch try standing(handle, id, of: principal.owner, asksHub: controller.hub.isLocal, planned: planned) {
        case .present: return false
        case .missing, .interrupted: return true
        }
    }

    /// Registers a device.
    /// - Returns: false, when the user has it already.
    /// - Throws: as `isNew`.
    package func register(_ registration: DeviceRegistration, id: String?, of user: User) throws -> Bool {
        do {
            return try registerMissing(registration, id: id, of: user)
        } catch is RegistrationForgotten {
            throw HubError.registrationGone
        }
    }

    private func registerMissing(_ registration: DeviceRegistration, id: String?, of user: User) throws -> Bool {
        let principal = try principal(user)
        let (handle, tags) = try controller.checked(registration, of: principal)
        let hub = controller.hub.tracking(Self.requestID)
        let interrupted: RegistrationID?
        switch try standing(handle, id, of: principal.owner, asksHub: true, planned: 0) {
        case .present: return false
        case .missing: interrupted = nil
        case .interrupted(let device): interrupted = RegistrationID(device.id)
        }
        if let id {
            try controller.register(handle, tags: tags, for: principal, appsID: id, hub)
            return true
        }
        let registrationID = try interrupted ?? hub.createRegistrationID()
        try controller.claim(registrationID.description, for: principal.owner, hub)
        _ = try controller.register(
            RegisterController.Claim(
                id: registrationID, user: principal.owner, handle: handle, tags: tags,
                tokenRoles: principal.tokenRoles), hub)
        return true
    }

    /// The user as a request of theirs would have them.
    /// - Throws: `Problem` 403 for a user who may not log in.
    private func principal(_ user: User) throws -> Principal {
        guard user.mayLogIn(controller.now()) else {
            throw Problem(.changeNotAllowed, "The user \(user.name) may not log in, and gets no device.")
        }
        return try controller.authenticator.account(ofOwner: user.owner)?.principal ?? user.principal
    }

    private enum Standing {
        case present, missing
        /// An earlier import has begun to register it, and was ended.
        case interrupted(DeviceRecord)
    }

    /// Looks for the user's device that has this handle, or that the app knows by this id.
    /// - Throws: `Problem`; `Refusal`, when there is none and may be none.
    private func standing(
        _ handle: DeviceHandle, _ id: String?, of owner: String, asksHub: Bool, planned: Int
    ) throws -> Standing {
        let devices = try controller.store.devices(owner: owner)
        if let id {
            guard RegisterController.canBeAlias(id) else {
                throw Problem(.invalidValue, "The app's id is too long, or cannot be in a path.", field: "id")
            }
            if let device = devices.first(where: { $0.alias?.hasSameBytes(as: id) == true }) {
                return device.isUnused || device.needsReconciliation && device.has(handle)
                    ? .interrupted(device) : .present
            }
            if devices.contains(where: { $0.id.hasSameBytes(as: id) }) { return .present }
        }
        if let device = devices.first(where: { $0.has(handle) }) {
            return device.needsReconciliation ? .interrupted(device) : .present
        }
        if asksHub, try isAnothers(handle, than: owner) { throw Refusal.anothers }
        guard devices.count + planned < devicesPerUser else { throw Refusal.full(devicesPerUser) }
        return .missing
    }

    private func isAnothers(_ handle: DeviceHandle, than owner: String) throws -> Bool {
        try controller.hub.registrations(channel: handle.channel).contains { registration in
            guard let id = registration.id, let device = try controller.store.device(id.description) else {
                return false
            }
            return device.has(handle) && !device.owner.hasSameBytes(as: owner)
        }
    }
}
