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
        let registration = try DeviceRegistration(body: request.body)
        let handle = try DeviceHandle(registration)
        let app = try apps.tag(registration.app, of: handle.platform)
        let tags = try policy.claim(registration.tags, app: app, user: user.record)
        try register(handle, tags: tags, for: user.owner, appsID: id, hub.tracking(request.id))
        return Response()
    }
}

extension DeviceHandle {
    /// - Throws: `Problem` 400, naming the field; never the handle.
    fileprivate init(_ registration: DeviceRegistration) throws(Problem) {
        let keys = registration.keys
        do {
            switch registration.platform.lowercased() {
            case "apns": self = try .apns(registration.handle)
            // The old name of the same push service, whose old protocol Google has switched off.
            case "fcm", "gcm", "fcmv1": self = try .fcm(registration.handle)
            case "wns": self = try .wns(registration.handle)
            case "mpns": self = try .mpns(registration.handle)
            case "browser":
                guard let keys else {
                    throw Problem(.badRequest, "A browser needs Keys with p256dh and auth.", field: "Keys")
                }
                self = try .browser(endpoint: registration.handle, p256dh: keys.p256dh, auth: keys.auth)
            default:
                throw Problem(
                    .badRequest, "Platform must be one of apns, fcm, gcm, wns, mpns, browser.", field: "Platform")
            }
        } catch let problem as Problem {
            throw problem
        } catch {
            let field =
                switch error as? HandleError {
                case .badPublicKey: "p256dh"
                case .badAuthSecret: "auth"
                default: "Handle"
                }
            throw Problem(.badRequest, "The handle is not one of this platform: \(error).", field: field)
        }
    }
}
