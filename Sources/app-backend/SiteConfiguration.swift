// SPDX-License-Identifier: Apache-2.0
import AppBackend
import Logging
import NotificationHub
import WebPush

/// Everything that can be set, checked. The defaults are those of the reference in `docs/configuration.md`.
struct SiteConfiguration: Sendable {
    struct Hub: Sendable {
        /// nil: the local hub, in this process.
        var connection: ConnectionString?
        var name = "app-backend"
        var platforms: [Platform] = [.apns, .fcm, .wns, .browser]
        /// Seconds that one call may take.
        var timeout = 10
        var caFile: String?
        /// nil: no proxy, whatever the environment says.
        var proxy: String?
    }

    /// The local hub, when it is also offered to others over HTTP under `/<hub.name>/`.
    struct ServedHub: Sendable {
        var isServed = false
        /// Every key that is taken, the secondary ones among them; several may have one name.
        var keys: [SharedAccessKey] = []
        /// Host names under which others reach it; their signatures name one of these.
        var hosts: [String] = ["localhost"]
    }

    /// How the local hub pushes to browsers.
    struct WebPush: Sendable {
        enum KeySource: Sendable {
            /// `webPush.privateKey`.
            case configuration(VAPIDKey)
            /// `webPush.privateKeyFile`; nil: `vapid.key` in the store's folder.
            case file(String?)
        }

        var key = KeySource.file(nil)
        /// `webPush.formerPrivateKey`: the one before it, by which browsers are reached that have not subscribed again.
        var formerKey: VAPIDKey?
        /// Needed as soon as there is a key.
        var subject: VAPIDSubject?
        var hosts = PushHosts.vendors
        var caFile: String?
        /// nil: no proxy, whatever the environment says.
        var proxy: String?
        /// Seconds that a message waits for a browser that is away.
        var timeToLive = WebPushDriver.defaultTimeToLive
        /// Seconds that one push may take.
        var timeout = 10
        /// What the page is told where an external hub has the key.
        var publicKey: String?
    }

    enum AuthenticationMethod: String, CaseIterable, Sendable {
        case users, test
    }

    var hub = Hub()
    var localHub = ServedHub()
    var webPush = WebPush()
    var store = StorePlace.folder("")
    /// nil: the listening socket that standard input or systemd hands over.
    var listen: String?
    var allowsRemotePeers = false
    var workers = 64
    var authenticationMethod = AuthenticationMethod.users
    var realm = "AppBackend"
    var policy = TagPolicy()
    var sessionHours = 168
    var retentionDays = 30
    var userLimits = UserLimits()
    var bodyBytes = 65_536
    var drainSeconds = 10
    var logLevel = Logger.Level.info
    /// Secrets that others of this host may read or change; faults, without which it can be used.
    var exposures: [ConfigurationFault] = []
}

/// One thing that is wrong with the configuration: where it was read, which key, and what would be right.
struct ConfigurationFault: Error, Equatable, CustomStringConvertible {
    var key: String
    var reason: String

    var description: String { "configuration: \(key): \(reason)" }
}
