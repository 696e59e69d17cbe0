// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import JSON
import NotificationHub
import Store
import Text

/// The registrations of devices. Each route has a file of its own.
struct RegisterController: Sendable {
    let store: any StateStore
    let notifications: Notifications
    let policy: TagPolicy
    let apps: AppPolicy
    let endpoints: EndpointPolicy
    let authenticator: any PasswordAuthenticator
    let now: @Sendable () -> Timestamp
    let registrationLock: KeyedLock

    var hub: any Hub { notifications.hub }

    var routes: [Route<UserAction>] {
        [
            Route(.post, Path.register) { request, _ in try create(request) },
            Route(.get, Path.register) { request, _ in try list(request) },
            Route(.put, Path.register + "/{id}") { request, parameters in try put(request, parameters["id"]) },
            Route(.delete, Path.register + "/{id}") { request, parameters in try delete(request, parameters["id"]) },
            Route(.put, Path.installations) { request, _ in try putInstallation(request) },
            Route(.delete, Path.installations + "/{id}") { request, parameters in
                try deleteInstallation(request, parameters["id"])
            },
        ]
    }

    /// The tags that a device has at the hub: those of its record, its user's, and its own where the hub does not know it and
    /// there is room for it.
    /// - Throws: as `TagPolicy.userTag(_:)`; the tags of a record were checked when it was written.
    static func hubTags(of device: DeviceRecord, at hub: any Hub) throws(Problem) -> [Tag] {
        let userTag = try TagPolicy.userTag(device.owner)
        var tags: [Tag] = []
        // A role that was given later may be one too many.
        for text in device.tags.prefix(TagPolicy.maximumClaimedTags) {
            let tag = try TagPolicy.serverTag(text)
            if tag != userTag { tags.append(tag) }
        }
        if !hub.knowsRegistrationTags, tags.count < TagPolicy.maximumClaimedTags, let own = device.ownTag {
            tags.append(own)
        }
        return tags + [userTag]
    }
}

extension DeviceRecord {
    /// By which it is reached alone; nil, where its id is too long for that.
    var ownTag: Tag? { RegistrationID(id).flatMap(Tag.init(registration:)) }

    /// One of the caller's own registrations, as the list shows it. The handle is a secret between the device and
    /// its push service, so only its end is shown,
    /// and of a short one nothing.
    func writeMembers(to json: inout JSONWriter) {
        json.member("RegistrationId", id)
        json.member("Platform", platform)
        json.member("Handle", DeviceHandle.suffix(of: handle))
        json.member("Tags", claimedTags)
        if let app { json.member("App", app) }
        if let installationID { json.member("InstallationId", installationID) }
        if let gone, isGone {
            json.member("Gone") { json in
                json.member("At", gone.at.text)
                json.member("Reason", gone.reason)
            }
        }
    }
}
