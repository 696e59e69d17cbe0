// SPDX-License-Identifier: Apache-2.0
package import APNs
package import Curl
package import FCM
import NotificationHub
package import Push
import Text
package import WNS

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

    /// An app of Apple's.
    package struct APNsApp: Sendable {
        /// Where the configuration has it: `apns`, or `apns.1` in a list.
        let group: String

        package enum Credential: Sendable {
            case key(APNsKey)
            /// A PEM file of certificate and key, or a `.p12` file.
            case certificate(ClientCertificate)
        }

        package var credential: Credential
        /// The bundle id.
        package var topic: String
        package var environment: APNsEnvironment
        package var calls: PushServiceCalls
        /// Of a certificate.
        package var state: CredentialState?
    }

    /// A Firebase project.
    package struct FCMProject: Sendable {
        let group: String
        package var credential: GoogleCredential
        package var calls: PushServiceCalls
    }

    /// An app of Windows.
    package struct WNSApp: Sendable {
        let group: String
        package var credential: WNSCredential
        /// Where tokens are fetched, where that is not Microsoft's own place.
        package var tokenEndpoint: ServiceURL?
        package var calls: PushServiceCalls
        /// Of a secret whose end the operator has noted.
        package var state: CredentialState?
    }

    /// Groups that may also be a list of groups, one for each app.
    static let appGroups: [String: [String]] = [
        "apns": [
            "keyFile", "key", "keyId", "teamId", "topic", "environment", "certificateFile", "certificatePassword",
            "endpoint", "caFile", "timeout",
        ],
        "fcm": ["credentialFile", "credential", "endpoint", "caFile", "timeout"],
        "wns": [
            "packageSid", "clientId", "tenant", "secret", "secretExpires", "tokenEndpoint", "endpoint", "caFile",
            "timeout",
        ],
    ]

    /// The services of telephones that there are credentials for: `apns`.
    package var apps: [String] {
        [("apns", apns.isEmpty), ("fcm", fcm.isEmpty), ("wns", wns.isEmpty)].filter { !$0.1 }.map(\.0)
    }

    /// Groups of which there may be a list, with their keys.
    static let listGroups = appGroups.merging(
        [issuerGroup: issuerKeys, roleGroup: roleKeys, webhookGroup: webhookKeys]
    ) { one, _ in one }

    /// Their keys that are lists.
    static let groupLists: Set = [
        "\(issuerGroup).audience", "\(issuerGroup).authorizedParty", "\(roleGroup).tags", "\(roleGroup).sendTo",
        "\(webhookGroup).events",
    ]

    /// The key without the place in the list: `apns.1.topic` is known as `apns.topic`.
    static func general(_ key: String) -> String {
        guard let group = listGroups.keys.first(where: { key.hasPrefix($0 + ".") }) else { return key }
        let parts = key.dropFirst(group.count + 1).split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, Int(parts[0]) != nil else { return key }
        return "\(group).\(parts[1])"
    }
}

extension ConfigurationFault {
    /// Whether it is of a group of telephones' credentials, so that all but sending to telephones works.
    package var isOfApp: Bool {
        SiteConfiguration.appGroups.keys.contains { key == $0 || key.hasPrefix($0 + ".") }
    }
}

extension SiteConfiguration.APNsApp {
    /// - Parameter group: `apns`, or `apns.0` and so on in a list.
    /// - Returns: nil, when there are faults.
    init?(_ group: String, _ reading: inout ConfigurationReading) {
        let credential = Self.credential(group, &reading)
        let topic = reading.needed("\(group).topic", "the app's bundle id", of: .apns)
        let environment: APNsEnvironment = reading.choice("\(group).environment") ?? .production
        let calls = SiteConfiguration.PushServiceCalls(group, &reading)
        guard let credential, let topic else { return nil }
        (self.group, self.credential, self.topic) = (group, credential, topic)
        (self.environment, self.calls) = (environment, calls)
        if case .certificate(let certificate) = credential {
            state = reading.read(certificate, group, for: topic)
        }
    }

    private static func credential(_ group: String, _ reading: inout ConfigurationReading) -> Credential? {
        if let file = reading.path("\(group).certificateFile") {
            if reading.text("\(group).key") ?? reading.text("\(group).keyFile") != nil {
                reading.fault("\(group).certificateFile", "is not for an app that has a key")
            }
            let password = reading.text("\(group).certificatePassword").map { Secret($0) }
            reading.noteSecretFile("\(group).certificateFile", file)
            guard ConfigurationFile.read(file) != nil else {
                reading.fault("\(group).certificateFile", "\(file) cannot be read", of: .apns)
                return nil
            }
            return .certificate(ClientCertificate(file: file, password: password))
        }
        let keyID = reading.needed("\(group).keyId", "the key's id of ten characters", of: .apns)
        let teamID = reading.needed("\(group).teamId", "the team's id of ten characters", of: .apns)
        let text = reading.secret(
            "\(group).key", orFile: "\(group).keyFile", "the .p8 file of Apple's developer site; or certificateFile",
            of: .apns)
        guard let text, let keyID, let teamID else { return nil }
        do throws(APNsKeyError) {
            return .key(try APNsKey(pem: text.value, keyID: keyID, teamID: teamID))
        } catch {
            let key =
                switch error {
                case .badKeyID: "\(group).keyId"
                case .badTeamID: "\(group).teamId"
                default: text.key
                }
            reading.fault(key, "\(error)", of: .apns)
            return nil
        }
    }
}

extension SiteConfiguration.FCMProject {
    init?(_ group: String, _ reading: inout ConfigurationReading) {
        self.group = group
        calls = SiteConfiguration.PushServiceCalls(group, &reading)
        let text = reading.secret(
            "\(group).credential", orFile: "\(group).credentialFile", "the JSON file of the project's service account",
            of: .fcm)
        guard let text else { return nil }
        do throws(GoogleCredentialError) {
            credential = try GoogleCredential(Array(text.value.reveal().utf8), trusting: calls.endpoint?.authority)
        } catch {
            reading.fault(text.key, "\(error)", of: .fcm)
            return nil
        }
        if FCMDriver(project: credential.projectID, now: { 0 }) == nil {
            reading.fault(text.key, "project_id: must be the project's id or number", of: .fcm)
            return nil
        }
    }
}

extension SiteConfiguration.WNSApp {
    init?(_ group: String, _ reading: inout ConfigurationReading) {
        self.group = group
        calls = SiteConfiguration.PushServiceCalls(group, &reading)
        tokenEndpoint = reading.endpoint("\(group).tokenEndpoint")
        let secret = reading.needed("\(group).secret", "the app's secret", of: .wns).map { Secret($0) }
        state = reading.day("\(group).secretExpires").map { CredentialState(key: "\(group).secret", end: $0) }
        let sid = reading.text("\(group).packageSid")
        let (client, tenant) = (reading.text("\(group).clientId"), reading.text("\(group).tenant"))
        do throws(WNSCredentialError) {
            switch (sid, client, tenant, secret) {
            case (let sid?, nil, nil, let secret?):
                credential = try .partnerCenter(packageSID: sid, secret: secret, endpoint: tokenEndpoint?.description)
            case (nil, let client?, let tenant?, let secret?):
                credential = try .entra(
                    clientID: client, tenant: tenant, secret: secret, endpoint: tokenEndpoint?.description)
            case (_, _, _, nil): return nil
            default:
                reading.fault("\(group).packageSid", "is needed, or clientId and tenant in its place", of: .wns)
                return nil
            }
        } catch {
            reading.fault("\(group).\(error.setting)", error.reason, of: .wns)
            return nil
        }
    }
}

extension SiteConfiguration.PushServiceCalls {
    fileprivate init(_ group: String, _ reading: inout ConfigurationReading) {
        endpoint = reading.endpoint("\(group).endpoint")
        caFile = reading.certificates("\(group).caFile")
        timeout = reading.number("\(group).timeout", 1...120) ?? timeout
    }
}

extension ConfigurationReading {
    /// The groups of that name that have a value: the one itself, and those of a list.
    /// - Parameter keys: those of one group.
    mutating func groups(_ name: String, _ keys: [String]) -> [String] {
        let indices = Set(
            sources.file.keys.compactMap { key in
                SiteConfiguration.general(key) == key || !key.hasPrefix(name + ".")
                    ? nil : key.dropFirst(name.count + 1).split(separator: ".").first.flatMap { Int($0) }
            })
        let itself = keys.contains { isSet("\(name).\($0)") } ? [name] : []
        return itself + indices.sorted().map { "\(name).\($0)" }
    }

    private mutating func isSet(_ key: String) -> Bool {
        if SiteConfiguration.groupLists.contains(key), case .list? = sources.file[key] { return true }
        return text(key) != nil
    }

    /// The groups of an app's platform.
    mutating func apps(_ name: String) -> [String] { groups(name, SiteConfiguration.appGroups[name] ?? []) }

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

    /// Opens the certificate as each connection to Apple will.
    /// - Returns: nil, when there are faults.
    fileprivate mutating func read(
        _ certificate: ClientCertificate, _ group: String, for topic: String
    ) -> CredentialState? {
        let key = "\(group).certificateFile"
        do throws(ClientCertificateError) {
            let content = try certificate.read()
            return CredentialState(
                key: key, end: content.notAfter, missingTopic: content.isFor(topic: topic) ? nil : topic)
        } catch {
            fault(error.isOfPassword ? "\(group).certificatePassword" : key, "\(certificate.file) \(error)", of: .apns)
            return nil
        }
    }

    /// The beginning of a day in UTC, in seconds since 1970.
    fileprivate mutating func day(_ key: String) -> Int64? {
        guard let text = text(key) else { return nil }
        let day = Timestamp(text: "\(text)T00:00:00Z")?.seconds
        if day == nil { fault(key, "must be a date, such as 2027-12-31") }
        return day
    }

    fileprivate mutating func endpoint(_ key: String) -> ServiceURL? {
        guard let text = text(key) else { return nil }
        guard let url = ServiceURL(text), url.scheme == "https" else {
            fault(key, "must be https://, a host and perhaps a port")
            return nil
        }
        return url
    }
}
