// SPDX-License-Identifier: Apache-2.0
import NotificationHub
package import Push
import Text
package import WNS

/// Devices with Windows: `wns`.
extension SiteConfiguration {
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
}

extension SiteConfiguration.WNSApp {
    static let settings: [Setting] =
        [
            Setting("wns", .groups(), default: "none", "One app of Windows, or a list of them."),
            Setting(
                "wns.packageSid", .text, default: "none",
                """
                `ms-app://S-1-15-2-…` from Partner Center. With it, or with `wns.clientId`, the built-in hub [delivers \
                to Windows](../operate/push-windows.md).
                """),
            Setting("wns.clientId", .text, default: "none", "Instead of `packageSid`: the application ID in Entra ID."),
            Setting("wns.tenant", .text, default: "none", "Tenant of that application."),
            Setting("wns.secret", .text, is: .secret, default: "required", "The app's secret."),
            Setting(
                "wns.secretExpires", .text, default: "none",
                """
                Day on which the secret expires, such as `2027-12-31` (UTC), as Entra shows it. The secret itself does \
                not contain it. `check`, `doctor` and the log warn as for a certificate.
                """),
            Setting(
                "wns.tokenEndpoint", .text, default: "Microsoft's",
                "`https://` URL that replaces the one that issues access tokens."),
        ]
        + SiteConfiguration.PushServiceCalls.settings(
            "wns",
            endpoint: (
                "host of each device's channel", "As `apns.endpoint`. It replaces the hosts of the channels."
            ), of: { $0.wns.map { ($0.group, $0.calls) } })

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

extension ConfigurationReading {
    /// The beginning of a day in UTC, in seconds since 1970.
    fileprivate mutating func day(_ key: String) -> Int64? {
        guard let text = text(key) else { return nil }
        let day = Timestamp(text: "\(text)T00:00:00Z")?.seconds
        if day == nil { fault(key, "must be a date, such as 2027-12-31") }
        return day
    }
}
