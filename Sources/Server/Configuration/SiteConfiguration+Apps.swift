// SPDX-License-Identifier: Apache-2.0
package import Text

/// The credentials with which the built-in hub reaches the push services of telephones, one for each app.
extension SiteConfiguration {
    /// How a service is called; the same keys in all three groups.
    package struct PushServiceCalls: Sendable {
        /// Takes the place of the vendor's `https://host:port`, for relays and tests; it may have a private address.
        package var endpoint: String?
        /// PEM; nil: the host's own certificate authorities.
        package var caFile: String?
        /// Seconds that one push may take.
        package var timeout = 10
    }

    /// An app of Apple's.
    package struct APNsApp: Sendable {
        package enum Environment: String, CaseIterable, Sendable {
            case production, sandbox
        }

        package enum Credential: Sendable {
            /// The text of the `.p8` file, and its two ids.
            case key(Secret, keyID: String, teamID: String)
            /// A PEM file of certificate and key, or a `.p12` file.
            case certificate(file: String, password: Secret?)
        }

        package var credential: Credential
        /// The bundle id.
        package var topic: String
        package var environment: Environment
        package var calls: PushServiceCalls
    }

    /// A Firebase project.
    package struct FCMProject: Sendable {
        /// The text of the credential file.
        package var credential: Secret
        package var calls: PushServiceCalls
    }

    /// An app of Windows.
    package struct WNSApp: Sendable {
        package enum Identity: Sendable {
            /// Partner Center's `ms-app://S-1-15-2-…`.
            case package(sid: String)
            /// Entra ID's application and the tenant that it belongs to.
            case application(clientID: String, tenant: String)
        }

        package var identity: Identity
        package var secret: Secret
        /// Takes the place of Microsoft's, as `endpoint` does.
        package var tokenEndpoint: String?
        package var calls: PushServiceCalls
    }

    /// Groups that may also be a list of groups, one for each app.
    static let appGroups: [String: [String]] = [
        "apns": [
            "keyFile", "key", "keyId", "teamId", "topic", "environment", "certificateFile", "certificatePassword",
            "endpoint", "caFile", "timeout",
        ],
        "fcm": ["credentialFile", "credential", "endpoint", "caFile", "timeout"],
        "wns": ["packageSid", "clientId", "tenant", "secret", "tokenEndpoint", "endpoint", "caFile", "timeout"],
    ]

    /// The key without the place in the list: `apns.1.topic` is known as `apns.topic`.
    static func general(_ key: String) -> String {
        let parts = key.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let group = parts.first, appGroups[String(group)] != nil, Int(parts[1]) != nil else {
            return key
        }
        return "\(group).\(parts[2])"
    }
}

extension SiteConfiguration.APNsApp {
    /// - Parameter group: `apns`, or `apns.0` and so on in a list.
    /// - Returns: nil, when there are faults.
    init?(_ group: String, _ reading: inout ConfigurationReading) {
        let credential = Self.credential(group, &reading)
        let topic = reading.needed("\(group).topic", "the app's bundle id")
        let environment: Environment = reading.choice("\(group).environment") ?? .production
        let calls = SiteConfiguration.PushServiceCalls(group, &reading)
        guard let credential, let topic else { return nil }
        (self.credential, self.topic, self.environment, self.calls) = (credential, topic, environment, calls)
    }

    private static func credential(_ group: String, _ reading: inout ConfigurationReading) -> Credential? {
        let certificate = reading.path("\(group).certificateFile")
        let password = reading.text("\(group).certificatePassword").map { Secret($0) }
        if let certificate {
            if reading.text("\(group).key") ?? reading.text("\(group).keyFile") != nil {
                reading.fault("\(group).certificateFile", "is not for an app that has a key")
            }
            reading.noteSecretFile("\(group).certificateFile", certificate)
            guard ConfigurationFile.read(certificate) != nil else {
                reading.fault("\(group).certificateFile", "cannot be read")
                return nil
            }
            return .certificate(file: certificate, password: password)
        }
        let keyID = reading.needed("\(group).keyId", "the key's id of ten characters")
        let teamID = reading.needed("\(group).teamId", "the team's id of ten characters")
        let key = reading.secret(
            "\(group).key", orFile: "\(group).keyFile", "the .p8 file of Apple's developer site; or certificateFile")
        guard let key, let keyID, let teamID else { return nil }
        return .key(key, keyID: keyID, teamID: teamID)
    }
}

extension SiteConfiguration.FCMProject {
    init?(_ group: String, _ reading: inout ConfigurationReading) {
        calls = SiteConfiguration.PushServiceCalls(group, &reading)
        let text = reading.secret(
            "\(group).credential", orFile: "\(group).credentialFile", "the JSON file of the project's service account")
        guard let text else { return nil }
        credential = text
    }
}

extension SiteConfiguration.WNSApp {
    init?(_ group: String, _ reading: inout ConfigurationReading) {
        calls = SiteConfiguration.PushServiceCalls(group, &reading)
        tokenEndpoint = reading.origin("\(group).tokenEndpoint", allowsPath: true)
        let secret = reading.needed("\(group).secret", "the app's secret")
        let sid = reading.text("\(group).packageSid")
        let (client, tenant) = (reading.text("\(group).clientId"), reading.text("\(group).tenant"))
        switch (sid, client, tenant) {
        case (let sid?, nil, nil): identity = .package(sid: sid)
        case (nil, let client?, let tenant?): identity = .application(clientID: client, tenant: tenant)
        default:
            reading.fault("\(group).packageSid", "is needed, or clientId and tenant in its place")
            return nil
        }
        guard let secret else { return nil }
        self.secret = Secret(secret)
    }
}

extension SiteConfiguration.PushServiceCalls {
    fileprivate init(_ group: String, _ reading: inout ConfigurationReading) {
        endpoint = reading.origin("\(group).endpoint")
        caFile = reading.certificates("\(group).caFile")
        timeout = reading.number("\(group).timeout", 1...120) ?? timeout
    }
}

extension ConfigurationReading {
    /// The groups of that name that have a value: the one itself, and those of a list.
    mutating func apps(_ name: String) -> [String] {
        let keys = SiteConfiguration.appGroups[name] ?? []
        let indices = Set(
            file.keys.compactMap { key in
                SiteConfiguration.general(key) == key || !key.hasPrefix(name + ".")
                    ? nil : key.split(separator: ".").dropFirst().first.flatMap { Int($0) }
            })
        let itself = keys.contains { text("\(name).\($0)") != nil } ? [name] : []
        return itself + indices.sorted().map { "\(name).\($0)" }
    }

    fileprivate mutating func needed(_ key: String, _ what: String) -> String? {
        let text = text(key)
        if text == nil { fault(key, "is needed: \(what)") }
        return text
    }

    /// A secret of several lines: the value, or the content of the file that the other key names.
    fileprivate mutating func secret(_ key: String, orFile fileKey: String, _ what: String) -> Secret? {
        if let text = text(key) { return Secret(text) }
        guard let path = path(fileKey) else {
            fault(fileKey, "is needed: \(what)")
            return nil
        }
        noteSecretFile(fileKey, path)
        guard let bytes = ConfigurationFile.read(path) else {
            fault(fileKey, "\(path) cannot be read")
            return nil
        }
        return Secret(String(decoding: bytes, as: UTF8.self))
    }

    /// `https://host` or `https://host:port`.
    fileprivate mutating func origin(_ key: String, allowsPath: Bool = false) -> String? {
        guard let text = text(key) else { return nil }
        let rest = text.hasPrefix("https://") ? text.dropFirst("https://".count) : ""
        let authority = allowsPath ? rest.prefix { $0 != "/" } : rest
        guard !authority.isEmpty, authority.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !"/?#@".utf8.contains($0) })
        else {
            fault(key, "must be https://, a host and perhaps a port")
            return nil
        }
        return text
    }
}
