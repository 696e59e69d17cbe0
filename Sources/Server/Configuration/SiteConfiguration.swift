// SPDX-License-Identifier: Apache-2.0
package import AppBackend
package import Logging
package import NotificationHub
package import WebPush

/// Everything that can be set, checked. The defaults are those of the reference in `docs/operate/configuration.md`.
package struct SiteConfiguration: Sendable {
    package struct Hub: Sendable {
        /// nil: the local hub, in this process.
        package var connection: ConnectionString?
        package var name = "app-backend"
        package var platforms: [Platform] = [.apns, .fcm, .wns, .browser]
        /// Seconds that one call may take.
        package var timeout = 10
        package var caFile: String?
        /// nil: no proxy, whatever the environment says.
        package var proxy: String?
    }

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

    /// How the local hub pushes to browsers.
    package struct WebPush: Sendable {
        package enum KeySource: Sendable {
            /// `webPush.privateKey`.
            case configuration(VAPIDKey)
            /// `webPush.privateKeyFile`; nil: `vapid.key` in the store's folder.
            case file(String?)
        }

        package var key = KeySource.file(nil)
        /// `webPush.formerPrivateKey`: the one before it, by which browsers are reached that have not subscribed again.
        package var formerKey: VAPIDKey?
        /// Needed as soon as there is a key.
        package var subject: VAPIDSubject?
        package var hosts = PushHosts.vendors
        package var caFile: String?
        /// nil: no proxy, whatever the environment says.
        package var proxy: String?
        /// Seconds that a message waits for a browser that is away.
        package var timeToLive = WebPushDriver.defaultTimeToLive
        /// Seconds that one push may take.
        package var timeout = 10
        /// The public key for the page where an external hub has the private one.
        package var publicKey: String?
    }

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

    /// The defaults.
    package init() {}

    /// Whether the tutorial's test decides who is a user, and not the store.
    package var isTest: Bool { authenticationMethods.contains(.test) }
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
