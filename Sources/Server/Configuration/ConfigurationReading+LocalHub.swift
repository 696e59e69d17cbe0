// SPDX-License-Identifier: Apache-2.0
import NotificationHub
import Text

extension SiteConfiguration {
    mutating func readLocalHub(_ reading: inout ConfigurationReading) {
        localHub.isServed = reading.flag("localHub.serve") ?? localHub.isServed
        localHub.isShared = reading.flag("localHub.shared") ?? localHub.isShared
        localHub.registrationsPerMinute =
            reading.number("localHub.registrationsPerMinute", 0...1_000_000) ?? localHub.registrationsPerMinute
        localHub.hosts = reading.list("localHub.hosts") ?? localHub.hosts
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
