// SPDX-License-Identifier: Apache-2.0
import NotificationHub
package import Push
import Text

/// The credentials with which the built-in hub reaches the push services of telephones, one for each app.
extension SiteConfiguration {
    /// How a service is called; the same keys in all three groups.
    package struct PushServiceCalls: Sendable {
        /// Takes the place of the vendor's `https://host:port`, for relays and tests; it may have a private address.
        package var endpoint: ServiceURL?
        /// PEM; nil: the host's own certificate authorities.
        package var caFile: String?
        /// Seconds that one push may take.
        package var timeout = 10
    }

    /// The services of telephones that there are credentials for: `apns`.
    package var apps: [String] {
        [("apns", apns.isEmpty), ("fcm", fcm.isEmpty), ("wns", wns.isEmpty)].filter { !$0.1 }.map(\.0)
    }

    /// A group that is there switches its platform on in the built-in hub.
    mutating func readApps(_ reading: inout ConfigurationReading) {
        func check(_ platform: Platform) -> [String] {
            let groups = reading.groups(platform.rawValue)
            guard let first = groups.first else { return [] }
            if hub.connection != nil {
                reading.fault(first, "is for the built-in hub; the hub of hub.connectionString delivers by itself")
            } else if !hub.platforms.contains(platform) {
                reading.fault(first, "is of no use: hub.platforms has no \(platform.rawValue)")
            }
            return groups
        }
        apns = check(.apns).compactMap { APNsApp($0, &reading) }
        fcm = check(.fcm).compactMap { FCMProject($0, &reading) }
        wns = check(.wns).compactMap { WNSApp($0, &reading) }
        checkApps(&reading)
        // Without one of several apps, devices that name none would become those of another.
        let off = Set(reading.faults.compactMap(\.channel))
        if off.contains(.apns) { apns = [] }
        if off.contains(.fcm) { fcm = [] }
        if off.contains(.wns) { wns = [] }
    }
}

extension ConfigurationFault {
    /// Whether it is of a group of telephones' credentials, so that all but sending to telephones works.
    package var isOfApp: Bool {
        ["apns", "fcm", "wns"].contains { key == $0 || key.hasPrefix($0 + ".") }
    }
}

extension SiteConfiguration.PushServiceCalls {
    /// The rows of these keys in the group of an app.
    /// - Parameters:
    ///   - endpoint: the default and the meaning of `endpoint`.
    ///   - apps: those that are read of the group.
    static func settings(
        _ group: String, endpoint: (default: String, about: String),
        of apps: @escaping @Sendable (SiteConfiguration) -> [(group: String, calls: Self)]
    ) -> [Setting] {
        [
            Setting("\(group).endpoint", .text, default: endpoint.default, endpoint.about),
            Setting(
                "\(group).caFile", .text, default: "the system's", "Certificates (PEM) to trust, for a relay."),
            Setting(
                key: "\(group).timeout", .number(1...120), default: "\(Self().timeout)",
                "Seconds that one push may take.",
                values: { apps($0).map { ("\($0.group).timeout", .text("\($0.calls.timeout)")) } }),
        ]
    }

    init(_ group: String, _ reading: inout ConfigurationReading) {
        endpoint = reading.endpoint("\(group).endpoint")
        caFile = reading.certificates("\(group).caFile")
        timeout = reading.number("\(group).timeout") ?? timeout
    }
}

extension ConfigurationReading {
    /// The groups of that name that have a value: the one itself, and those of a list.
    mutating func groups(_ name: String) -> [String] {
        let indices = Set(
            sources.file.keys.compactMap { key in
                table.general(key) == key || !key.hasPrefix(name + ".")
                    ? nil : key.dropFirst(name.count + 1).split(separator: ".").first.flatMap { Int($0) }
            })
        let itself = (table.group(name) ?? []).contains { isSet($0) } ? [name] : []
        return itself + indices.sorted().map { "\(name).\($0)" }
    }

    private mutating func isSet(_ row: Setting) -> Bool {
        if case .list = row.form, case .list? = sources.file[row.key] { return true }
        return text(row.key) != nil
    }

    /// - Parameter channel: as of `fault`.
    mutating func needed(_ key: String, _ what: String, of channel: Platform? = nil) -> String? {
        let text = text(key)
        if text == nil { fault(key, "is needed: \(what)", of: channel) }
        return text
    }

    /// A secret of several lines: the value, or the content of the file that the other key names.
    /// - Parameter channel: as of `fault`.
    /// - Returns: it, and the key that it came by; nil, when there are faults.
    mutating func secret(
        _ key: String, orFile fileKey: String, _ what: String, of channel: Platform? = nil
    ) -> (value: Secret, key: String)? {
        if let text = text(key) { return (Secret(text), key) }
        guard let path = path(fileKey) else {
            fault(fileKey, "is needed: \(what)", of: channel)
            return nil
        }
        noteSecretFile(fileKey, path)
        guard let bytes = ConfigurationFile.read(path) else {
            fault(fileKey, "\(path) cannot be read", of: channel)
            return nil
        }
        return (Secret(String(decoding: bytes, as: UTF8.self)), fileKey)
    }

    mutating func endpoint(_ key: String) -> ServiceURL? {
        guard let text = text(key) else { return nil }
        guard let url = ServiceURL(text), url.scheme == "https" else {
            fault(key, "must be https://, a host and perhaps a port")
            return nil
        }
        return url
    }
}
