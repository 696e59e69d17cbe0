// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
package import NotificationHub
import Store

/// Which app a device may say that it is of. The server marks the device's registration with it, by a tag that no user
/// may claim: `app:com.example.chat`.
package struct AppPolicy: Sendable {
    /// By the platform's family and in the operator's spelling; nil: another hub delivers, and has one app of each
    /// platform.
    private let names: [Platform: [String]]?

    /// - Parameter names: the apps by platform, the default app first: devices that name none are of it.
    package init(_ names: [Platform: [String]] = [:]) { self.names = names }

    private init(names: [Platform: [String]]?) { self.names = names }

    /// Of a backend whose hub is elsewhere.
    package static let remoteHub = AppPolicy(names: nil)

    /// The tag of the app that a device names; nil: it names none.
    /// - Throws: `Problem` 400, when there is no such app of the platform; `field` is `App`.
    func tag(_ app: String?, of platform: Platform) throws(Problem) -> Tag? {
        guard let app else { return nil }
        guard let names else {
            throw Problem(
                .unknownApp, "This backend's hub has one app of each platform: leave App out.", field: "App")
        }
        guard let all = names[platform.family], !all.isEmpty else {
            throw Problem(.unknownApp, "This backend has no apps of that platform: leave App out.", field: "App")
        }
        guard let name = all.first(where: { $0.lowercased().hasSameBytes(as: app.lowercased()) }) else {
            throw Problem(.unknownApp, "App must be one of \(all.joined(separator: ", ")).", field: "App")
        }
        return try TagPolicy.serverTag(Tag.appPrefix + name)
    }
}

extension DeviceRecord {
    /// The app that the device has named, in the operator's spelling; nil: none.
    var app: String? {
        tags.first { TagPolicy.isAppTag($0) }.map { String($0.dropFirst(Tag.appPrefix.count)) }
    }

    /// The tags that its user has claimed.
    var claimedTags: [String] { tags.filter { !TagPolicy.isServerTag($0) } }
}
