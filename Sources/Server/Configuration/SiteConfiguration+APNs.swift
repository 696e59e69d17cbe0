// SPDX-License-Identifier: Apache-2.0
package import APNs
package import Curl
import NotificationHub
import Text

/// Apple's devices: `apns`.
extension SiteConfiguration {
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
}

extension SiteConfiguration.APNsApp {
    static let settings: [Setting] =
        [
            Setting(
                "apns", .groups(), default: "none",
                "One app of Apple's, or a list of them: see [several apps](../operate/push-apple.md)."),
            Setting(
                "apns.keyFile", .text, default: "none",
                """
                `.p8` file from Apple's developer site. With it, or with `apns.certificateFile`, the built-in hub \
                [delivers to Apple](../operate/push-apple.md).
                """),
            Setting(
                "apns.key", .text, is: [.secret, .document], default: "that of the file",
                "Text of the key file. It replaces the file."),
            Setting(
                "apns.keyId", .text, default: "required with a key",
                "Key ID of ten characters, which Apple shows beside the key."),
            Setting("apns.teamId", .text, default: "required with a key", "Team ID of ten characters."),
            Setting("apns.topic", .text, default: "required", "Bundle ID of the app."),
            Setting(
                key: "apns.environment", .choice(APNsEnvironment.allCases.map(\.rawValue)), default: "`production`",
                """
                `production` or `sandbox`: the environment that the app is signed for. If a list has a group for each, \
                a device that one environment refuses is tried in the other.
                """,
                values: { $0.apns.map { ("\($0.group).environment", .text($0.environment.rawValue)) } }),
            Setting(
                "apns.certificateFile", .text, default: "none",
                """
                Instead of a key: a PEM file with certificate and private key, or a `.p12` or `.pfx` file. `check` and \
                `doctor` report a certificate that has expired or is for other topics as an error, and the service \
                logs a warning. All three warn from 30 days before its end.
                """),
            Setting("apns.certificatePassword", .text, is: .secret, default: "none", "Password of that file."),
        ]
        + SiteConfiguration.PushServiceCalls.settings(
            "apns", endpoint: ("Apple's", "`https://host:port` of a relay. It may have a private address."),
            of: { $0.apns.map { ($0.group, $0.calls) } })

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

extension ConfigurationReading {
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
}
