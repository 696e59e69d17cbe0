// SPDX-License-Identifier: Apache-2.0
import NotificationHub
import Text
package import WebPush

/// Browsers: `webPush.*`.
extension SiteConfiguration {
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

    mutating func readWebPush(_ reading: inout ConfigurationReading) {
        webPush.readKey(&reading)
        webPush.readHosts(&reading)
        if case .configuration = webPush.key, reading.text("webPush.subject") == nil {
            reading.fault("webPush.subject", PushService.missingSubject, of: .browser)
        }
        webPush.publicKey = webPush.publicKey.flatMap { VAPIDKey.publicKey($0) }
        if webPush.publicKey != nil, hub.connection == nil {
            reading.fault("webPush.publicKey", "is only for another hub's key; the built-in hub has one of its own")
        }
    }
}

extension SiteConfiguration.WebPush {
    /// The longest that services are asked to keep a message, in seconds: four weeks, as FCM does.
    private static let maximumTimeToLive = 28 * 86_400

    static let settings: [Setting] = [
        .parsed(
            "webPush.subject", \.webPush.subject, of: .browser, default: "required with a key",
            """
            `mailto:push@example.com` or an `https:` URL, by which push services reach you. Its host is a public DNS \
            name.
            """
        ) { try VAPIDSubject($0) },
        Setting(
            "webPush.privateKeyFile", .text, default: "`vapid.key` in `store.path`",
            """
            VAPID key, which `app-backend keys vapid` creates. Without a key the built-in hub does not push to \
            browsers. Only the owner and the group may read the file.
            """
        ) {
            guard case .file(let path) = $0.webPush.key else { return nil }
            return (path ?? $0.store.folder.map { "\($0)/\(VAPIDKeyFile.defaultName)" }).map { .text($0) }
        },
        Setting(
            "webPush.privateKey", .text, is: .secret, default: "that of the file",
            "The key itself, 32 bytes in base64 or base64url. It replaces the file."),
        .parsed(
            "webPush.formerPrivateKey", \.webPush.formerKey, is: .secret, of: .browser,
            """
            Previous key, for browsers that have not subscribed again ([another \
            key](../operate/push-browsers.md#another-key)).
            """
        ) {
            try VAPIDKey(Secret($0))
        },
        Setting(
            "webPush.hosts", .list(), default: "those of the browser vendors",
            """
            Push services that the service may send to: `push.example.com`, or `*.example.com` for all names below it, \
            on port 443. Your list replaces the vendors'. `vendors` in it adds them, and `*` allows every host with a \
            public name and address (UnifiedPush). Browsers with other push services cannot register.
            """),
        Setting(
            "webPush.privateHosts", .list(), default: "`[]`",
            "Your own push services, as `host:port`. They may have private addresses."),
        .certificates(
            "webPush.caFile", \.webPush.caFile,
            "Certificates (PEM) to trust, for a push service of your own."),
        .optional(
            "webPush.proxy", \.webPush.proxy, is: .address,
            """
            Proxy for push services, for example `http://proxy.example:3128`. The proxy must decide which addresses it \
            allows.
            """
        ) {
            isProxy($0) ? nil : "must be http://, https://, socks5:// or socks5h://, a host and a port"
        },
        .number(
            "webPush.ttl", \.webPush.timeToLive, 0...maximumTimeToLive,
            "Seconds that a push service keeps a message for a browser that is offline."),
        .number("webPush.timeout", \.webPush.timeout, 1...120, "Seconds that one push may take."),
        .optional(
            "webPush.publicKey", \.webPush.publicKey,
            "Only with `hub.connectionString`: the public VAPID key of that hub, with which the web app subscribes."
        ) {
            VAPIDKey.publicKey($0) == nil ? "must be Base64 of an uncompressed P-256 point, 87 characters" : nil
        },
    ]

    fileprivate mutating func readKey(_ reading: inout ConfigurationReading) {
        if let path = reading.path("webPush.privateKeyFile") { key = .file(path) }
        guard let text = reading.text("webPush.privateKey") else { return }
        do throws(VAPIDKey.Malformed) {
            key = .configuration(try VAPIDKey(Secret(text)))
        } catch {
            reading.fault("webPush.privateKey", "\(error)", of: .browser)
        }
    }

    fileprivate mutating func readHosts(_ reading: inout ConfigurationReading) {
        let names = reading.list("webPush.hosts")
        let privateNames = reading.list("webPush.privateHosts") ?? []
        do throws(PushHosts.BadEntry) {
            hosts = try PushHosts(names)
        } catch {
            return reading.fault("webPush.hosts", "\(error)")
        }
        do throws(PushHosts.BadEntry) {
            hosts = try PushHosts(names, privateHosts: privateNames)
        } catch {
            reading.fault("webPush.privateHosts", "\(error)")
        }
    }

    private static func isProxy(_ text: String) -> Bool {
        ["http://", "https://", "socks5://", "socks5h://"].contains { scheme in
            guard text.hasPrefix(scheme) else { return false }
            // Before an @ there may be a user and a password.
            let host = text.dropFirst(scheme.count).split(separator: "@", omittingEmptySubsequences: false).last
            return host.flatMap { Authority($0) }?.port != nil
        }
    }
}
