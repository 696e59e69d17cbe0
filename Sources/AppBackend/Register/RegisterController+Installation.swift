// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import HTTPTypes
import NotificationHub
import Store

/// `PUT /api/notifications/installations`: the call of the tutorial for .NET MAUI.
extension RegisterController {
    /// Registers an installation natively. Its id is an alias, so that it has one registration, which a later call with another
    /// token changes.
    func putInstallation(_ request: UserRequest) throws -> Response {
        let user = request.user
        try request.http.requireJSON()
        let installation = try DeviceInstallation(body: request.body)
        let handle = try DeviceHandle(installation)
        try endpoints.check(handle, field: "pushChannel")
        let hub = hub.tracking(request.id)
        do {
            let tags = try policy.rights(of: user).claim(installation.tags)
            let id = installation.installationID
            let device = try register(handle, tags: tags, for: user, appsID: id, isInstallation: true, hub)
            // Of calls at the same moment, each with a token of its own, more than one may have made a registration.
            try deleteSuperseded(try aliased(id, of: user.owner), by: device, hub)
        } catch let problem as Problem where problem.field == "Tags" {
            throw problem.naming("tags")
        }
        return Response()
    }
}

extension DeviceHandle {
    /// - Throws: `Problem` 400, naming the field; never the handle.
    fileprivate init(_ installation: DeviceInstallation) throws(Problem) {
        // A browser's handle has keys, for which an installation has no member.
        guard let platform = Platform(appName: installation.platform), platform != .browser else {
            let names = Platform.appNames.filter { Platform(appName: $0) != .browser }.joined(separator: ", ")
            throw Problem(.unknownPlatform, "platform must be one of \(names).", field: "platform")
        }
        do throws(HandleError) {
            try self.init(platform, installation.pushChannel)
        } catch {
            throw Problem(.invalidHandle, "pushChannel is not one of this platform: \(error).", field: "pushChannel")
        }
    }
}
