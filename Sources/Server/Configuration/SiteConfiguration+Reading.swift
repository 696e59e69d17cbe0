// SPDX-License-Identifier: Apache-2.0
import AppBackend
import FastCGI
import Glibc
import Logging
import NotificationHub
import Text

extension SiteConfiguration {
    /// Keys whose values are secrets. They can also be files of `$CREDENTIALS_DIRECTORY` (systemd's
    /// `LoadCredential=`), named like the key; such a file wins over the environment, and that over the file.
    package static let secretKeys = [
        "hub.connectionString", "localHub.key", "localHub.keys", "store.url", "webPush.privateKey",
        "webPush.formerPrivateKey", "apns.key", "apns.certificatePassword", "fcm.credential", "wns.secret",
        "webhooks.secret",
    ]

    /// Secrets of several lines.
    static let documents = ["apns.key", "fcm.credential"]

    static let knownKeys = ownKeys.union(listGroups.flatMap { group, keys in keys.map { "\(group).\($0)" } })

    static let ownKeys: Set<String> = [
        "hub.connectionString", "hub.name", "hub.platforms", "hub.timeout", "hub.caFile", "hub.proxy",
        "localHub.serve", "localHub.keyName", "localHub.key", "localHub.keys", "localHub.hosts",
        "localHub.shared", "localHub.registrationsPerMinute",
        "store.path", "store.url", "store.connections",
        "listen",
        "listenToRemotePeers",
        "workers",
        "auth.method", "auth.methods", "auth.realm", "cors.origins",
        "policy.tags", "policy.sendTo", "policy.secureOnly", "users.roles",
        "secure.form", "secure.text", "secure.locKey",
        "session.hours",
        "notifications.retentionDays",
        "inbox.plainDays", "inbox.badges", "inbox.silentSync",
        "limits.bodyBytes", "limits.drainSeconds", "limits.sendsPerMinute", "limits.sendsAtOnce",
        "limits.registrationsPerMinute", "limits.registrationsAtOnce", "limits.listsPerMinute", "limits.listsAtOnce",
        "limits.bytesUnderWay",
        "log.level",
        "webPush.privateKey", "webPush.privateKeyFile", "webPush.subject", "webPush.hosts", "webPush.privateHosts",
        "webPush.caFile", "webPush.proxy", "webPush.ttl", "webPush.timeout", "webPush.publicKey",
        "webPush.formerPrivateKey",
    ]

    /// Reads file, environment and credentials.
    /// - Returns: the configuration, and every fault that was found; nil when the file itself is unusable.
    package static func load(
        file: String?, environment: Environment = .process
    ) -> (SiteConfiguration?, [ConfigurationFault]) {
        load(file: file, environment, CredentialFiles(environment))
    }

    /// As the service will read it. Files are read as the service's user, where this process is root's; credentials as root, as
    /// systemd reads them.
    package static func loadAsService(
        file: String?, environment: Environment
    ) -> (SiteConfiguration?, [ConfigurationFault]) {
        let credentials = CredentialFiles(environment)
        let read = load(file: file, environment, credentials)
        // What root cannot read, no other user can.
        guard let configuration = read.0 else { return read }
        return StoreOwner.asServiceUser(of: configuration, environment) { load(file: file, environment, credentials) }
    }

    private static func load(
        file: String?, _ environment: Environment, _ credentials: CredentialFiles
    ) -> (SiteConfiguration?, [ConfigurationFault]) {
        let sources: ConfigurationSources
        do throws(ConfigurationFault) {
            sources = try ConfigurationSources(file: file, environment, credentials)
        } catch {
            return (nil, [error])
        }
        var reading = ConfigurationReading(sources)
        var configuration = SiteConfiguration(&reading)
        configuration.channelFaults = reading.faults.filter { $0.channel != nil }
        configuration.exposures = exposures(
            file: sources.path.map { ($0, sources.file.mapValues(\.joined)) },
            credentials: sources.credentialPaths.merging(reading.secretFiles) { first, _ in first })
        return (configuration, sources.faults + reading.faults + reading.defects)
    }

    private init(_ reading: inout ConfigurationReading) {
        self.init()
        readHub(&reading)
        readLocalHub(&reading)
        webPush = WebPush(&reading, hasExternalHub: hub.connection != nil)
        readApps(&reading)
        store = StoreLocation(&reading)
        listen = reading.text("listen")
        allowsRemotePeers = reading.flag("listenToRemotePeers") ?? allowsRemotePeers
        do throws(ListenError) {
            _ = try ListenAddress(listen, allowNonLoopback: allowsRemotePeers)
        } catch {
            reading.fault("listen", "\(error)")
        }
        workers = reading.number("workers", 1...1024) ?? workers
        // Issuers give roles.
        readRoles(&reading)
        readNewUsers(&reading)
        readAuthentication(&reading)
        policy.defaultTags = reading.patterns("policy.tags") ?? policy.defaultTags
        policy.defaultSendTo = reading.patterns("policy.sendTo") ?? policy.defaultSendTo
        policy.isSecureOnly = reading.flag("policy.secureOnly") ?? policy.isSecureOnly
        readSecureForm(&reading)
        sessionHours = reading.number("session.hours", 1...8760) ?? sessionHours
        retentionDays = reading.number("notifications.retentionDays", 1...3650) ?? retentionDays
        readInbox(&reading)
        readWebhooks(&reading)
        bodyBytes = reading.number("limits.bodyBytes", 1024...ServerLimits.maximumBodyBytes) ?? bodyBytes
        drainSeconds = reading.number("limits.drainSeconds", 0...600) ?? drainSeconds
        readUserLimits(&reading)
        logLevel = reading.choice("log.level") ?? logLevel
    }

    private mutating func readHub(_ reading: inout ConfigurationReading) {
        if let text = reading.text("hub.connectionString") {
            do throws(ConnectionStringError) {
                hub.connection = try ConnectionString(text)
            } catch {
                reading.fault("hub.connectionString", "\(error)")
            }
        }
        hub.name = reading.text("hub.name") ?? hub.connection?.entityPath ?? hub.name
        let isPath =
            !hub.name.isEmpty
            && hub.name.utf8.allSatisfy { byte in
                ASCII.isAlphanumeric(byte) || "-_.".utf8.contains(byte)
            }
        if !isPath || ["api", "health", "metrics"].contains(hub.name.lowercased()) {
            reading.fault("hub.name", "must be letters, digits, '-', '_' and '.', and not api, health or metrics")
        }
        if let names = reading.list("hub.platforms") {
            // The default is all that there are.
            let all = hub.platforms
            hub.platforms = names.compactMap { name in all.first { $0.rawValue == name.lowercased() } }
            if hub.platforms.isEmpty || hub.platforms.count != names.count {
                let list = all.map(\.rawValue).joined(separator: ", ")
                reading.fault("hub.platforms", "must be a list out of \(list)")
            }
        }
        hub.timeout = reading.number("hub.timeout", 1...120) ?? hub.timeout
        hub.caFile = reading.certificates("hub.caFile")
        hub.proxy = reading.text("hub.proxy")
    }

    private mutating func readSecureForm(_ reading: inout ConfigurationReading) {
        enum Name: String, CaseIterable { case silent, alert }
        let (text, key) = (reading.text("secure.text"), reading.text("secure.locKey"))
        let name: Name? = reading.choice("secure.form")
        if name == .alert {
            secureForm = .alert(text: text ?? SecureForm.defaultText, localizationKey: key)
        } else if text != nil || key != nil {
            reading.fault(text != nil ? "secure.text" : "secure.locKey", "is shown only with secure.form alert")
        }
        for (key, text) in [("secure.text", text), ("secure.locKey", key)] {
            guard let text, text.utf8.count > SecureForm.maximumBytes || text.utf8.contains(where: { $0 < 0x20 })
            else { continue }
            reading.fault(key, "must be one line of at most \(SecureForm.maximumBytes) bytes")
        }
    }

    /// A group that is there switches its platform on in the built-in hub.
    private mutating func readApps(_ reading: inout ConfigurationReading) {
        func check(_ platform: Platform) -> [String] {
            let groups = reading.apps(platform.rawValue)
            guard let first = groups.first else { return [] }
            if hub.connection != nil {
                reading.fault(first, "is for the built-in hub; the hub of hub.connectionString delivers by itself")
            } else if !hub.platforms.contains(platform) {
                reading.fault(first, "is of no use: hub.platforms has no \(platform.rawValue)")
            }
            return groups
        }
        apns = check(.apns).compactMap { APNsApp($0, &reading) }
        fcm = check(.fcm).compactMap { FCMProject($0, &reading) }
        wns = check(.wns).compactMap { WNSApp($0, &reading) }
        checkApps(&reading)
        // Without one of several apps, devices that name none would become those of another.
        let off = Set(reading.faults.compactMap(\.channel))
        if off.contains(.apns) { apns = [] }
        if off.contains(.fcm) { fcm = [] }
        if off.contains(.wns) { wns = [] }
    }

    private mutating func readInbox(_ reading: inout ConfigurationReading) {
        plainDays = reading.number("inbox.plainDays", 0...3650) ?? plainDays
        countsBadges = reading.flag("inbox.badges") ?? countsBadges
        syncsInbox = reading.flag("inbox.silentSync") ?? syncsInbox
        if countsBadges, plainDays == 0 {
            reading.fault("inbox.badges", "counts the messages of inboxes, which are kept with inbox.plainDays alone")
        }
    }

    private mutating func readUserLimits(_ reading: inout ConfigurationReading) {
        func read(_ kind: String, _ rate: inout UserLimits.Rate) {
            rate.perMinute = reading.number("limits.\(kind)PerMinute", 0...UserLimits.highestRate) ?? rate.perMinute
            rate.atOnce = reading.number("limits.\(kind)AtOnce", 1...UserLimits.highestRate) ?? rate.atOnce
        }
        read("sends", &userLimits.sends)
        read("registrations", &userLimits.registrations)
        read("lists", &userLimits.lists)
        userLimits.bytesUnderWay =
            reading.number("limits.bytesUnderWay", 0...UserLimits.highestBytes) ?? userLimits.bytesUnderWay
    }
}
