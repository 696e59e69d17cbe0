// SPDX-License-Identifier: Apache-2.0
import AppBackend
import Logging
import NotificationHub

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
        var key: SharedAccessKey?
        /// Host names under which others reach it; their signatures name one of these.
        var hosts: [String] = ["localhost"]
    }

    enum AuthenticationMethod: String, CaseIterable, Sendable {
        case users, test
    }

    var hub = Hub()
    var localHub = ServedHub()
    var storePath = ""
    /// nil: the listening socket that standard input or systemd hands over.
    var listen: String?
    var allowsRemotePeers = false
    var workers = 64
    var authenticationMethod = AuthenticationMethod.users
    var realm = "AppBackend"
    var policy = TagPolicy()
    var retentionDays = 30
    var bodyBytes = 65_536
    var drainSeconds = 10
    var logLevel = Logger.Level.info
}

/// One thing that is wrong with the configuration: where it was read, which key, and what would be right.
struct ConfigurationFault: Error, Equatable, CustomStringConvertible {
    var key: String
    var reason: String

    var description: String { "configuration: \(key): \(reason)" }
}
