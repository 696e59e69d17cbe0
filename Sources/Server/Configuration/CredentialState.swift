// SPDX-License-Identifier: Apache-2.0
import Text

/// What an app's credential says of itself, beyond that it can be used: until when, and whether it is for the app.
package struct CredentialState: Equatable, Sendable {
    /// From so many days before its end a credential is warned of.
    package static let noticeDays: Int64 = 30

    private static let secondsPerDay: Int64 = 86_400

    /// The setting that it is from: `apns.certificateFile`.
    package let key: String
    /// Seconds since 1970; nil where the credential has no end, or does not say it.
    package let end: Int64?
    /// The app's topic, where the certificate lists topics and not this one.
    var missingTopic: String?

    init(key: String, end: Int64?, missingTopic: String? = nil) {
        (self.key, self.end, self.missingTopic) = (key, end, missingTopic)
    }

    /// What the push service will refuse. It stops neither the service nor its other apps.
    /// - Parameter now: seconds since 1970, as in `warning`.
    package func fault(_ now: Int64) -> ConfigurationFault? {
        if let end, end <= now {
            return ConfigurationFault(key: key, reason: "has ended on \(Self.day(end)), and must be renewed")
        }
        return missingTopic.map {
            ConfigurationFault(key: key, reason: "the certificate lists other topics than \($0)")
        }
    }

    /// That the credential ends soon.
    package func warning(_ now: Int64) -> ConfigurationFault? {
        guard let end, end > now, end - now < Self.noticeDays * Self.secondsPerDay else { return nil }
        let days = (end - now) / Self.secondsPerDay
        return ConfigurationFault(key: key, reason: "ends on \(Self.day(end)), in \(days) days; renew it")
    }

    /// `2027-12-31`
    package static func day(_ time: Int64) -> String { String(Timestamp(seconds: time).text.prefix(10)) }
}

extension SiteConfiguration {
    /// Of the apps whose credentials say something of themselves.
    package var credentialStates: [CredentialState] { apns.compactMap(\.state) + wns.compactMap(\.state) }
}
