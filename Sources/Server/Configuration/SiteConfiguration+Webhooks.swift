// SPDX-License-Identifier: Apache-2.0
package import AppBackend
import HTTPTypes
import Push
import Text

/// The receivers of events: `webhooks`.
extension SiteConfiguration {
    /// More are a fault.
    static let maximumWebhooks = 10

    /// A receiver, and whether its address may be in a private network.
    package struct Webhook: Sendable {
        /// Where the configuration has it: `webhooks`, or `webhooks.1` in a list.
        package let group: String
        package let endpoint: WebhookEndpoint
        /// `host:port`.
        package let hostAndPort: String
        package let isPrivate: Bool
        /// Whether it is called without TLS; such a one is on this host.
        package let isPlain: Bool
    }

    /// One group, or a list of them.
    static let webhookGroup = "webhooks"

    mutating func readWebhooks(_ reading: inout ConfigurationReading) {
        let groups = reading.groups(Self.webhookGroup)
        if groups.count > Self.maximumWebhooks {
            reading.fault(Self.webhookGroup, "must be at most \(Self.maximumWebhooks) receivers")
        }
        webhooks = groups.prefix(Self.maximumWebhooks).compactMap { Webhook($0, &reading) }
        for (index, webhook) in webhooks.enumerated()
        where webhooks[..<index].contains(where: { $0.endpoint.hasSameAddress(as: webhook.endpoint) }) {
            reading.fault("\(webhook.group).url", "is there already")
        }
    }
}

extension SiteConfiguration.Webhook {
    static let settings: [Setting] = [
        Setting(
            "webhooks", .groups(atMost: SiteConfiguration.maximumWebhooks), default: "none",
            "Receivers of [webhooks](../build/webhooks.md): one group, or a list of up to ten."),
        Setting(
            "webhooks.url", .text, default: "required",
            "`https://` address of the receiver. `http://` only for this host."),
        Setting(
            "webhooks.secret", .text, is: .secret, default: "required, or `secretFile`",
            "Secret that signs events: `whsec_` and 24 to 64 bytes in base64."),
        Setting("webhooks.secretFile", .text, default: "none", "File with the secret in its first line."),
        Setting(
            "webhooks.events", .list(of: WebhookKind.allCases.map(\.rawValue)), default: "all",
            "List out of `message.completed`, `message.read`, `message.opened` and `device.removed`."),
        Setting("webhooks.private", .flag, default: "`false`", "Allows a receiver in a private network."),
    ]

    /// - Returns: nil, when there are faults.
    fileprivate init?(_ group: String, _ reading: inout ConfigurationReading) {
        let text = reading.needed("\(group).url", "the receiver's https address")
        let secret = reading.secret(
            "\(group).secret", orFile: "\(group).secretFile", "a file with whsec_ and 24 to 64 bytes in base64")
        let names = reading.list("\(group).events")
        let kinds = names.map { reading.values(WebhookKind.allCases, named: $0, "\(group).events") }
        let mayBePrivate = reading.flag("\(group).private") ?? false
        guard let text, let secret else { return nil }
        // The host's own addresses need no TLS, and no word that they are meant.
        guard let url = ServiceURL(text), url.scheme == "https" || Loopback.contains(url.authority.host) else {
            reading.fault(
                "\(group).url", "must be an https address; http is for this host alone, as 127.0.0.1 or [::1]")
            return nil
        }
        let line = String(secret.value.reveal().prefix { !$0.isWhitespace })
        let endpoint = WebhookEndpoint(
            label: group, request: url.request(.post), secret: Secret(line), kinds: Set(kinds ?? WebhookKind.allCases))
        guard let endpoint else {
            reading.fault(
                secret.key,
                "must be whsec_ and 24 to 64 bytes in base64; `echo whsec_$(openssl rand -base64 32)` makes one")
            return nil
        }
        self.init(
            group: group, endpoint: endpoint, hostAndPort: url.authority.hostAndPort,
            isPrivate: mayBePrivate || Loopback.contains(url.authority.host), isPlain: url.scheme == "http")
    }
}
