// SPDX-License-Identifier: Apache-2.0
package import NotificationHub
internal import System

/// All channels of a hub, and which of them reaches a device.
package final class PushChannels: Sendable {
    /// Devices whose environment is remembered; when there are more, all are found out again.
    static let capacity = 65_536

    /// The apps of one platform.
    private struct Apps {
        /// In lower case and in the order of the channels. The first is the default app: devices that name no app are
        /// of it.
        private(set) var names: [String] = []
        /// The channels of each app. The first of several is where a device is tried that is not known yet.
        private var environments: [String: [PushChannel]] = [:]

        /// - Parameter app: nil: the default app. Of no meaning where the platform has no apps.
        subscript(app: String?) -> [PushChannel] {
            let name = names == [""] ? "" : app ?? names.first ?? ""
            return environments[name] ?? []
        }

        var channels: [PushChannel] { names.flatMap { environments[$0] ?? [] } }

        mutating func add(_ channel: PushChannel) {
            if environments[channel.app] == nil { names.append(channel.app) }
            environments[channel.app, default: []].append(channel)
        }
    }

    /// By the platform's family.
    private let platforms: [Platform: Apps]
    /// The name of the channel that reached a device which is not of its app's first, by the hash of the handle: no
    /// handle is kept.
    private let known = Lock<[Int: String]>([:])

    package init(_ channels: [PushChannel]) {
        platforms = channels.reduce(into: [:]) { $0[$1.driver.platform.family, default: Apps()].add($1) }
    }

    /// The platforms that are reached, by their families.
    package var families: [Platform] { platforms.keys.sorted { $0.rawValue < $1.rawValue } }

    /// Whether devices of the platform are reached.
    package func reaches(_ platform: Platform) -> Bool { platforms[platform.family] != nil }

    /// The apps of the platform besides the default app, in lower case. A device that names the default app is as one that names
    /// none.
    package func otherApps(_ platform: Platform) -> [String] {
        Array(platforms[platform.family]?.names.dropFirst() ?? [])
    }

    /// The app by which devices are kept apart: nil for those of the default app, whether they name it or not.
    package func otherApp(_ platform: Platform, _ app: String?) -> String? {
        guard let names = platforms[platform.family]?.names, names != [""] else { return nil }
        return app == names.first ? nil : app
    }

    /// Where the device is tried first; nil: its platform or its app has no channel.
    /// - Parameter app: in lower case; nil: the default app.
    package func channel(for device: DeviceHandle, of app: String?) -> PushChannel? {
        guard let all = platforms[device.platform.family]?[app] else { return nil }
        guard all.count > 1, let name = known.withLock({ $0[device.channel.hashValue] }) else { return all.first }
        return all.first { $0.name == name } ?? all.first
    }

    /// The other environment of the channel's service: the next channel of its platform and app; nil: there is none.
    package func environment(after channel: PushChannel) -> PushChannel? {
        let all = platforms[channel.driver.platform.family]?[channel.app] ?? []
        guard all.count > 1, let index = all.firstIndex(where: { $0 === channel }) else { return nil }
        return all[(index + 1) % all.count]
    }

    /// Remembers that a device was reached by a channel other than the one where it was tried first.
    package func note(_ device: DeviceHandle, reachedBy channel: PushChannel) {
        let isFirst = platforms[device.platform.family]?[channel.app].first === channel
        known.withLock { known in
            if known.count >= Self.capacity { known.removeAll() }
            known[device.channel.hashValue] = isFirst ? nil : channel.name
        }
    }

    /// Whether messages to devices of the app wait for a credential.
    /// - Parameter app: in lower case; nil: the default app.
    package func isHeld(_ platform: Platform, _ app: String?) -> Bool {
        platforms[platform.family]?[app].contains { $0.hold != nil } ?? false
    }

    /// Why pushes to a service of the platform wait although no credential is refused; nil: they do not, for such a reason.
    package func outageReason(_ platform: Platform, service: String) -> String? {
        platforms[platform.family]?.channels.lazy.compactMap { $0.waitReason(of: service) }.first
    }

    /// Whether pushes of the platform wait although no credential is refused.
    package func hasOutage(_ platform: Platform) -> Bool {
        platforms[platform.family]?.channels.contains { $0.outage != nil } ?? false
    }

    /// All channels, by their names.
    package var all: [PushChannel] { platforms.values.flatMap(\.channels).sorted { $0.name < $1.name } }

    /// The channels whose credential is refused at this moment.
    package var holds: [PushChannel.Hold] { all.compactMap(\.hold).sorted { $0.channel < $1.channel } }
}
