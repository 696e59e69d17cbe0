// SPDX-License-Identifier: Apache-2.0
package import NotificationHub
import System

/// All channels of a hub, and which of them reaches a device.
package final class PushChannels: Sendable {
    /// Devices whose environment is remembered; when there are more, all are found out again.
    static let capacity = 65_536

    /// By the platform's family. The first of several is where a device is tried that is not known yet.
    private let channels: [Platform: [PushChannel]]
    /// The name of the channel that reached a device which is not of the first, by the hash of the handle: no handle is
    /// kept.
    private let known = Lock<[Int: String]>([:])

    package init(_ channels: [PushChannel]) {
        self.channels = Dictionary(grouping: channels) { $0.driver.platform.family }
    }

    /// Whether devices of the platform are reached.
    package func reaches(_ platform: Platform) -> Bool { channels[platform.family] != nil }

    /// Where the device is tried first; nil: its platform has no channel.
    package func channel(for device: DeviceHandle) -> PushChannel? {
        guard let all = channels[device.platform.family] else { return nil }
        guard all.count > 1, let name = known.withLock({ $0[device.channel.hashValue] }) else { return all.first }
        return all.first { $0.name == name } ?? all.first
    }

    /// The other environment of the channel's service: the next channel of its platform and topic; nil: there is none.
    package func environment(after channel: PushChannel) -> PushChannel? {
        let all = (channels[channel.driver.platform.family] ?? []).filter { $0.topic == channel.topic }
        guard all.count > 1, let index = all.firstIndex(where: { $0 === channel }) else { return nil }
        return all[(index + 1) % all.count]
    }

    /// Remembers that a device was reached by a channel other than the one where it was tried first.
    package func note(_ device: DeviceHandle, reachedBy channel: PushChannel) {
        let isFirst = channels[device.platform.family]?.first === channel
        known.withLock { known in
            if known.count >= Self.capacity { known.removeAll() }
            known[device.channel.hashValue] = isFirst ? nil : channel.name
        }
    }

    /// Whether messages to devices of the platform wait for a credential.
    package func isHeld(_ platform: Platform) -> Bool {
        channels[platform.family]?.contains { $0.hold != nil } ?? false
    }

    /// All channels, by their names.
    package var all: [PushChannel] { channels.values.joined().sorted { $0.name < $1.name } }

    /// The channels whose credential is refused at this moment.
    package var holds: [PushChannel.Hold] {
        channels.values.joined().compactMap(\.hold).sorted { $0.channel < $1.channel }
    }
}
