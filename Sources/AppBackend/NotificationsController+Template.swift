// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import NotificationHub
import Store

/// The recipient's devices of the older call. They registered templates, and a native notification does not reach those.
extension NotificationsController {
    /// Of devices of several platforms, so many of one platform can be named: an expression that has `&&` holds at most six
    /// tags, and the user's is one of them.
    static let maximumInstallations = TagExpression.maximumTags - 1

    /// Whom a template notification must go to, beside the native ones on these platforms; nil when the recipient has no such
    /// device, so that it costs nothing where it cannot matter.
    ///
    /// A template notification goes to every platform. Where the recipient's devices are of others, too, the wanted ones are
    /// named by their installation ids, those that registered last first.
    func templateAudience(of recipient: String, on platforms: [Platform]) throws -> TagExpression? {
        let installations = try store.devices(owner: recipient).filter {
            $0.installationID != nil && !$0.platform.isEmpty
        }
        let wanted = installations.filter { device in platforms.contains { $0.rawValue == device.platform } }
        guard !wanted.isEmpty else { return nil }
        let user = TagExpression.tag(try RegisterController.userTag(recipient))
        guard wanted.count < installations.count else { return user }
        let latest = wanted.sorted { $0.updatedAt > $1.updatedAt }.prefix(Self.maximumInstallations)
        let names = try latest.compactMap(\.installationID).map {
            TagExpression.tag(try RegisterController.serverTag($0))
        }
        guard let first = names.first else { return nil }
        return .and(user, names.dropFirst().reduce(first) { .or($0, $1) })
    }
}
