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
    func install(_ request: Request) throws -> Response {
        let user = try request.authenticatedUser()
        try request.requireJSON()
        let installation = try InstallationRegistration(body: request.body)
        let installationTag = try Self.installationTag(installation, policy, try store.user(user))
        let handle = try DeviceHandle(installation)
        let hub = hub.tracking(request.id)
        var mine = try registrations(of: installationTag, user: user, handle: handle, hub)
        let known = mine.isEmpty ? nil : mine.removeFirst()
        let register = { (id: RegistrationID) throws -> DeviceRecord in
            try claim(id.description, for: user)
            return try self.register(
                Claim(
                    id: id, user: user, handle: handle, tags: [installationTag],
                    installationID: installation.installationID), hub)
        }
        let device: DeviceRecord
        do {
            device = try register(try known ?? hub.createRegistrationID())
        } catch HubError.registrationGone {
            // This call's clients know no 410: an id that the hub has given up is replaced here, once.
            device = try register(try hub.createRegistrationID())
        }
        // Only now, so that the installation is never without one.
        try end(mine, inFavorOf: device, hub)
        var json = JSONWriter()
        device.write(to: &json)
        return .json(json.bytes)
    }

    /// The installation id is a tag like any other that a device claims.
    private static func installationTag(
        _ installation: InstallationRegistration, _ policy: TagPolicy, _ user: User?
    ) throws(Problem) -> Tag {
        do throws(Problem) {
            guard let tag = try policy.claim([installation.installationID], user: user).first else {
                throw Problem(.badRequest, "instId is missing.", field: "instId")
            }
            return tag
        } catch {
            throw Problem(error.status, error.detail, field: "instId")
        }
    }

    /// The installation's registrations that the caller may touch: his own, and those of this very device. Others
    /// may carry the same tag, because a tag is no proof of anything.
    private func registrations(
        of tag: Tag, user: String, handle: DeviceHandle, _ hub: NotificationHubClient
    ) throws -> [RegistrationID] {
        try hub.registrations(tag: tag).compactMap { registration in
            guard let id = registration.id, registration.template != nil,
                let device = try store.device(id.description), device.installationID != nil
            else { return nil }
            return device.owner == user || device.handle == handle.channel ? id : nil
        }
    }
}

extension DeviceHandle {
    /// - Throws: `Problem` 400, naming the field.
    fileprivate init(_ installation: InstallationRegistration) throws(Problem) {
        let field = installation.platform == .windows ? "channelUri" : "deviceToken"
        do throws(HandleError) {
            switch installation.platform {
            case .ios: self = try .apns(installation.handle)
            case .android: self = try .fcm(installation.handle)
            case .windows: self = try .wns(installation.handle)
            }
        } catch {
            throw Problem(.badRequest, "\(field) is not one of this platform: \(error).", field: field)
        }
    }
}
