// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import JSON
import NotificationHub
import Store

/// `POST /api/register` with a JSON body: the older tutorial's call.
extension RegisterController {
    /// Registers an installation with a template, in one call. An installation has one registration: the one that
    /// it has is updated, any others of it are deleted.
    func install(_ request: UserRequest) throws -> Response {
        let user = request.user
        try request.http.requireJSON()
        let installation = try InstallationRegistration(body: request.body)
        let rights = policy.rights(of: user)
        // What is wrong with the tag comes first.
        _ = try Self.tags(installation, rights)
        let handle = try DeviceHandle(installation)
        try endpoints.check(handle, field: installation.handleField)
        let tags = try Self.tags(installation, rights, app: try apps.tag(installation.app, of: handle.platform))
        let hub = hub.tracking(request.id)
        var registered = try registrations(
            of: installation.installationID, user: user.owner, handle: handle, hub)
        let known = registered.isEmpty ? nil : registered.removeFirst()
        let register = { (id: RegistrationID) throws -> DeviceRecord in
            try claim(id.description, for: user.owner, hub)
            return try self.register(
                Claim(
                    id: id, user: user.owner, handle: handle, tags: tags,
                    installationID: installation.installationID, hasTemplate: true, tokenRoles: user.tokenRoles), hub)
        }
        let device: DeviceRecord
        do {
            device = try register(try known ?? hub.createRegistrationID())
        } catch HubError.registrationGone, is RegistrationForgotten {
            // This call's clients know no 410: an id that the hub has given up is replaced here, once.
            device = try register(try hub.createRegistrationID())
        }
        // Only now, so that the installation is never without one.
        try deleteSuperseded(registered, by: device, hub)
        return .json(JSONWriter.object { device.writeMembers(to: &$0) }.bytes)
    }

    /// The installation id is a tag like any other that a device claims.
    private static func tags(
        _ installation: InstallationRegistration, _ rights: Rights, app: Tag? = nil
    ) throws(Problem) -> [Tag] {
        do throws(Problem) {
            return try rights.claim([installation.installationID], app: app)
        } catch {
            throw error.naming("instId")
        }
    }

    /// The installation's registrations that the caller may change: their own, and those of this very device. A tag is no
    /// proof of anything and anybody may claim it, so its registrations are never listed: the call costs what the caller
    /// owns, whatever name they give.
    private func registrations(
        of installationID: String, user: String, handle: DeviceHandle, _ hub: any Hub
    ) throws -> [RegistrationID] {
        let own = try store.devices(owner: user).filter { $0.isInstallation(installationID) }
        var ids = own.compactMap { RegistrationID($0.id) }
        for registration in try hub.registrations(channel: handle.channel) where registration.template != nil {
            guard let id = registration.id, !ids.contains(id), let device = try store.device(id.description),
                device.isInstallation(installationID), device.handle.hasSameBytes(as: handle.channel)
            else { continue }
            ids.append(id)
        }
        return ids
    }
}

extension DeviceRecord {
    fileprivate func isInstallation(_ id: String) -> Bool {
        hasTemplate && installationID?.hasSameBytes(as: id) == true
    }
}

extension InstallationRegistration {
    /// The member that has the handle.
    fileprivate var handleField: String { platform == .windows ? "channelUri" : "deviceToken" }
}

extension DeviceHandle {
    /// - Throws: `Problem` 400, naming the field.
    fileprivate init(_ installation: InstallationRegistration) throws(Problem) {
        let field = installation.handleField
        do throws(HandleError) {
            switch installation.platform {
            case .ios: self = try .apns(installation.handle)
            case .android: self = try .fcm(installation.handle)
            case .windows: self = try .wns(installation.handle)
            }
        } catch {
            throw Problem(.invalidHandle, "\(field) is not one of this platform: \(error).", field: field)
        }
    }
}
