// SPDX-License-Identifier: Apache-2.0
package import NotificationHub
import Text

/// The local hub as others see it: `localHub.*`.
extension SiteConfiguration {
    /// The local hub, when it is also offered to others over HTTP under `/<hub.name>/`.
    package struct ServedHub: Sendable {
        package var isServed = false
        /// Whether its sends reach the devices of the backend's users, and the backend's sends the devices that keys of it registered.
        package var isShared = false
        /// Registrations that a policy may write a minute, and at once; 0: without a limit.
        package var registrationsPerMinute = 6_000
        /// Every key that is taken, the secondary ones among them; several may have one name.
        package var keys: [SharedAccessKey] = []
        /// Host names under which others reach it; their signatures name one of these.
        package var hosts: [String] = ["localhost"]
    }

    mutating func readLocalHub(_ reading: inout ConfigurationReading) {
        let name = reading.text("localHub.keyName") ?? "DefaultFullSharedAccessSignature"
        if let key = reading.text("localHub.key") {
            guard key.utf8.count >= 32 else {
                return reading.fault("localHub.key", "must have at least 32 characters; `openssl rand -base64 32`")
            }
            localHub.keys = [SharedAccessKey(name: name, key: Secret(key), rights: .full)]
        }
        let lines = reading.hubKeys()
        if !localHub.keys.isEmpty, lines.contains(where: { $0.name.utf8.elementsEqual(name.utf8) }) {
            reading.fault("localHub.keys", "has an element of the name that localHub.key has")
        }
        localHub.keys += lines.flatMap(\.keys)
        if localHub.isServed && localHub.keys.isEmpty {
            reading.fault("localHub.key", "or localHub.keys is needed to serve the built-in hub to others")
        }
        if localHub.isServed && hub.connection != nil {
            reading.fault("localHub.serve", "serves nothing while hub.connectionString names another hub")
        }
    }
}

extension SiteConfiguration.ServedHub {
    static let settings: [Setting] = [
        .flag(
            "localHub.serve", \.localHub.isServed,
            """
            Offers the built-in hub to other backends below `/<hub.name>/`, for the SDKs of Azure Notification Hubs. \
            nginx needs `app-backend-hub.conf` with the hub's name. The others use \
            `Endpoint=sb://<host>/;SharedAccessKeyName=<keyName>;SharedAccessKey=<key>`.
            """),
        Setting(
            "localHub.keyName", .text, default: "`DefaultFullSharedAccessSignature`",
            "Name of the policy of `localHub.key`."),
        Setting(
            "localHub.key", .text, is: .secret, default: "none",
            "Key that other backends sign with, with all rights. It has at least 32 characters."),
        Setting(
            "localHub.keys", .list(), is: .secret, default: "`[]`",
            """
            Policies with their own rights, each \
            `"SharedAccessKeyName=NAME;Rights=RIGHTS;PrimaryKey=KEY;SecondaryKey=KEY"`: see [hub for other \
            backends](../operate/hub-for-other-backends.md).
            """),
        .list(
            "localHub.hosts", \.localHub.hosts,
            "Host names by which other backends reach the hub. Their signatures name one of them."),
        .flag(
            "localHub.shared", \.localHub.isShared,
            """
            One hub for this service and for those keys. Without it, the served hub has its own devices, and no key \
            reaches a user's device: see [one hub or two](../operate/hub-for-other-backends.md#one-hub-or-two).
            """),
        .number(
            "localHub.registrationsPerMinute", \.localHub.registrationsPerMinute, 0...1_000_000,
            """
            Registrations that one policy may create, change and delete per minute, and in a burst, in each process. \
            Above the limit the hub returns 429 with `Retry-After`. 0: no limit.
            """),
    ]
}

extension ConfigurationReading {
    /// `localHub.keys`. A fault names the place in the list, the first being 1, and none of the element's text.
    mutating func hubKeys() -> [HubKeyLine] {
        let key = "localHub.keys"
        let lines = list(key) ?? []
        if lines.count > HubKeyLine.maximumCount { fault(key, "must have at most \(HubKeyLine.maximumCount) elements") }
        var found: [HubKeyLine] = []
        for (index, line) in lines.prefix(HubKeyLine.maximumCount).enumerated() {
            do throws(HubKeyLine.Malformed) {
                let element = try HubKeyLine(line)
                if found.contains(where: { $0.name.utf8.elementsEqual(element.name.utf8) }) {
                    fault(key, "element \(index + 1) has the name of another")
                }
                found.append(element)
            } catch {
                fault(key, "element \(index + 1) \(error)")
            }
        }
        return found
    }
}
