// SPDX-License-Identifier: Apache-2.0
package import AppBackend
import FastCGI
package import Logging
package import NotificationHub

/// Everything that can be set, checked. The defaults are those of the reference in `docs/operate/configuration.md`.
package struct SiteConfiguration: Sendable {
    package var hub = Hub()
    package var localHub = ServedHub()
    package var webPush = WebPush()
    package var apns: [APNsApp] = []
    package var fcm: [FCMProject] = []
    package var wns: [WNSApp] = []
    package var store = StoreLocation.folder("")
    /// nil: the listening socket that standard input or systemd hands over.
    package var listen: String?
    package var allowsRemotePeers = false
    package var workers = 64
    /// How requests are authenticated, in this order.
    package var authenticationMethods: [AuthenticationMethod] = [.password, .token, .session]
    /// Whose tokens are accepted.
    package var issuers: [Issuer] = []
    package var realm = "AppBackend"
    /// The other sites whose pages may call the API, as browsers write them.
    package var foreignOrigins: [String] = []
    package var policy = TagPolicy()
    package var secureForm = SecureForm.silent
    package var sessionHours = 168
    package var retentionDays = 30
    /// For how many days plain messages are kept for the inbox; 0: they are not.
    package var plainDays = 0
    /// Whether a plain message to one user has the number of their unread messages as its badge.
    package var countsBadges = false
    /// Whether a user's devices hear what was read on one of them.
    package var syncsInbox = false
    /// The receivers of events.
    package var webhooks: [Webhook] = []
    package var userLimits = UserLimits()
    package var bodyBytes = 65_536
    package var drainSeconds = 25
    package var logLevel = Logger.Level.info
    /// Secrets that others of this host may read or change; faults, without which it can be used.
    package var exposures: [ConfigurationFault] = []
    /// What is missing or of no use of the credentials of a platform, which is then off; they are among the faults of `load` as
    /// well.
    package var channelFaults: [ConfigurationFault] = []
    /// The table by which it was read.
    var table = SettingTable.all

    /// The defaults.
    package init() {}

    /// Whether the tutorial's test decides who is a user, and not the store.
    package var isTest: Bool { authenticationMethods.contains(.test) }
}

/// Settings whose members are those above.
extension SiteConfiguration {
    static let processSettings: [Setting] = [
        .optional(
            "listen", \.listen, is: .fixed, default: "the socket that is passed",
            """
            `/path/to.sock` (created with mode 0660) or `127.0.0.1:9000`. Without it, the service uses its standard \
            input (systemd, spawn-fcgi, mod_fcgid, lighttpd) or systemd's first socket.
            """),
        .flag(
            "listenToRemotePeers", \.allowsRemotePeers, is: .fixed,
            """
            Allows `listen` on an address that is not a loopback address. Any peer of a FastCGI port can claim any \
            client address and any header. A passed socket is used with any address.
            """),
        .number(
            "workers", \.workers, 1...1024, is: .fixed,
            """
            Requests that the service processes at the same time. Idle connections and sends that wait for an external \
            hub need no worker.
            """),
        .number(
            "limits.drainSeconds", \.drainSeconds, 0...600, is: .fixed,
            """
            Seconds that running requests may take after SIGTERM. `TimeoutStopSec=` of the unit must be at least 6 \
            seconds longer.
            """),
        .choice("log.level", \.logLevel, "`trace`, `debug`, `info`, `notice`, `warning`, `error` or `critical`."),
    ]

    static let sessionSettings: [Setting] = [
        .number("session.hours", \.sessionHours, 1...8760, "Lifetime of a session of the web app."),
        .list(
            "cors.origins", \.foreignOrigins,
            """
            Other sites whose pages may call the API, as browsers write them: `https://app.example.com`, \
            `capacitor://localhost`. See [pages of other sites](../build/login-and-tokens.md#pages-of-other-sites).
            """
        ) {
            $0.allSatisfy(ForeignOrigins.isOrigin)
                ? nil
                : """
                must be origins such as https://app.example.com: no path, no *, small letters; http for localhost alone
                """
        },
    ]

    static let messageSettings: [Setting] = [
        Setting(
            "secure.form", .choice(SecureFormName.allCases.map(\.rawValue)),
            """
            Form of a secure push on Apple's devices. `silent` is the tutorial's background push: Apple delivers a few \
            per hour, and none to an app that the user has closed. `alert` shows `secure.text`, which the app's \
            notification service extension replaces by the message (`mutable-content`). The configuration of the \
            package has `alert`.
            """
        ) {
            .text(($0.secureForm == .silent ? SecureFormName.silent : .alert).rawValue)
        },
        Setting(
            "secure.text", .text, default: "`You have a new secure message.`",
            "With `alert`: the text if the app has no extension, one line of at most 1000 bytes."
        ) {
            if case .alert(let text, _) = $0.secureForm { .text(text) } else { nil }
        },
        Setting(
            "secure.locKey", .text, default: "none",
            "With `alert`: key of the app's own text in its `Localizable.strings`, at most 1000 bytes."
        ) {
            if case .alert(_, let key?) = $0.secureForm { .text(key) } else { nil }
        },
        .number(
            "notifications.retentionDays", \.retentionDays, 1...3650,
            "Days that a secure message waits for its owner."),
        .number(
            "inbox.plainDays", \.plainDays, 0...3650,
            """
            Days that the server stores plain messages for [the inbox](../build/inbox.md). With 0 the inbox has only \
            secure messages. The configuration of the package, and the one that `init` writes, have 7. After a change \
            to 0, stored messages stay until they expire.
            """),
        .flag(
            "inbox.badges", \.countsBadges,
            """
            A plain [message object](../build/send.md) to one user without `Badge` gets the number of that user's \
            unread messages. It requires `inbox.plainDays`.
            """),
        .flag(
            "inbox.silentSync", \.syncsInbox,
            """
            Notifies all phones of a user of messages that were read or deleted on one, by [a silent \
            push](../build/inbox.md#read-on-one-device-is-read-on-all) at most every ten seconds.
            """),
    ]

    static let limitSettings: [Setting] = [
        .number(
            "limits.bodyBytes", \.bodyBytes, 1024...ServerLimits.maximumBodyBytes, is: .fixed,
            "Maximum size of a request. Above it the service returns 413. nginx has its own `client_max_body_size`."),
        .number(
            "limits.sendsPerMinute", \.userLimits.sends.perMinute, rates,
            """
            Sustained rate of one user's sends. Above the limits the service returns 429. Each process counts for \
            itself. Requests that are repeated with an `Idempotency-Key` count. 0: no limit.
            """),
        .number("limits.sendsAtOnce", \.userLimits.sends.atOnce, bursts, "Burst of one user's sends."),
        .number(
            "limits.registrationsPerMinute", \.userLimits.registrations.perMinute, rates,
            """
            Sustained rate of one user's `POST`, `PUT` and `DELETE` below `/api/register` and \
            `/api/notifications/installations`. 0: no limit.
            """),
        .number("limits.registrationsAtOnce", \.userLimits.registrations.atOnce, bursts, "Burst of the same."),
        .number(
            "limits.listsPerMinute", \.userLimits.lists.perMinute, rates,
            """
            Sustained rate of one user's lists of devices and messages, and of cancelled scheduled messages. 0: no \
            limit.
            """),
        .number("limits.listsAtOnce", \.userLimits.lists.atOnce, bursts, "Burst of the same."),
        .number(
            "limits.bytesUnderWay", \.userLimits.bytesUnderWay, 0...UserLimits.highestBytes,
            """
            Bytes of one user's requests and lists that are in flight at the same time. A single request may have \
            more. A list counts as long as the last one, and at least 256 KiB. 0: no limit.
            """),
    ]

    private static let rates = 0...UserLimits.highestRate
    private static let bursts = 1...UserLimits.highestRate
}

/// One thing that is wrong with the configuration: where it was read, which key, and what would be right.
package struct ConfigurationFault: Error, Equatable, CustomStringConvertible {
    package var key: String
    package var reason: String
    /// The platform that is not reached because of it, where a service can start without; nil: it cannot.
    package var channel: Platform?

    package var description: String {
        let consequence = channel.map { "; a service that starts with it sends nothing to \($0.rawValue)" }
        return "configuration: \(key): \(reason)\(consequence ?? "")"
    }
}
