// SPDX-License-Identifier: Apache-2.0
import DeviceAPI
import HTTP
import Logging
import NotificationHub
import Store

/// The recipient's devices of the older call. They registered templates, and a native notification does not reach those.
extension NotificationsController {
    /// Of devices of several platforms, so many of one platform can be named: an expression that has `&&` holds at most six
    /// tags, and the user's is one of them.
    static let maximumInstallations = TagExpression.maximumTags - 1

    /// The user's devices. Where the store cannot tell there are none: those of the newer call are still reached, and the log says so.
    func devices(of recipient: String, _ request: UserRequest) -> [DeviceRecord] {
        attempt(request) { () throws(StoreError) in try store.devices(owner: recipient) } ?? []
    }

    /// Whom a template notification must go to, beside the native ones on these platforms; nil when the recipient has no such
    /// device, so that it costs nothing where it cannot matter.
    ///
    /// A template notification goes to every platform. Where the recipient's devices are of others, too, the wanted ones are
    /// named by their installation ids, those that registered last first.
    ///
    /// The device that a message is sent from is not named.
    /// - Parameter devices: the recipient's.
    func templateAudience(
        of recipient: String, _ devices: [DeviceRecord], on platforms: [Platform], besides sending: SendingDevice? = nil
    ) throws(Problem) -> TagExpression? {
        let installations = devices.filter { $0.hasTemplate && $0.isLive }
        let wanted = installations.filter { device in platforms.contains { $0.rawValue == device.platform } }
        guard !wanted.isEmpty else { return nil }
        let user = TagExpression.tag(try TagPolicy.userTag(recipient))
        guard wanted.count < installations.count else { return user }
        let others = wanted.filter { $0.id != sending?.id }
        let latest = others.sorted { $0.updatedAt > $1.updatedAt }.prefix(Self.maximumInstallations)
        var names: TagExpression?
        for id in latest.compactMap(\.installationID) {
            let name = TagExpression.tag(try TagPolicy.serverTag(id))
            names = names.map { .or($0, name) } ?? name
        }
        return names.map { .and(user, $0) }
    }
}
