// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import NotificationHub
import Store

/// `PUT /api/register/{id}`
extension RegisterController {
    /// Registers the device under the id that its app has; where that is not the caller's, under one of the caller's own.
    func put(_ request: UserRequest, _ id: String) throws -> Response {
        let user = request.user
        try request.http.requireJSON()
        let (handle, tags) = try checked(DeviceRegistration(body: request.body), of: user)
        try register(handle, tags: tags, for: user, appsID: id, hub.tracking(request.id))
        return Response()
    }

    /// Checks a registration against the platform's rules and the rights of its user.
    /// - Returns: the device, and its tags without the user's own.
    /// - Throws: `Problem` 400 or 403, naming the field; never the handle.
    func checked(
        _ registration: DeviceRegistration, of user: Principal
    ) throws(Problem) -> (handle: DeviceHandle, tags: [Tag]) {
        let handle = try DeviceHandle(registration)
        try endpoints.check(handle, field: "Handle")
        let app = try apps.tag(registration.app, of: handle.platform)
        return (handle, try policy.rights(of: user).claim(registration.tags, app: app))
    }
}

extension DeviceHandle {
    /// - Throws: `Problem` 400, naming the field; never the handle.
    fileprivate init(_ registration: DeviceRegistration) throws(Problem) {
        guard let platform = Platform(appName: registration.platform) else {
            let names = Platform.appNames.joined(separator: ", ")
            throw Problem(.unknownPlatform, "Platform must be one of \(names).", field: "Platform")
        }
        let keys = registration.keys
        do throws(HandleError) {
            try self.init(platform, HandleParts(registration.handle, p256dh: keys?.p256dh, auth: keys?.auth))
        } catch {
            let field: String
            switch error {
            case .badPublicKey, .badAuthSecret:
                guard keys != nil else {
                    throw Problem(.missingValue, "A browser needs Keys with p256dh and auth.", field: "Keys")
                }
                field = error == .badPublicKey ? "p256dh" : "auth"
            default: field = "Handle"
            }
            throw Problem(.invalidHandle, "The handle is not one of this platform: \(error).", field: field)
        }
    }
}
