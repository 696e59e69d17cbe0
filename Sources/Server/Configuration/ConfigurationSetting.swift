// SPDX-License-Identifier: Apache-2.0

/// A key of the configuration: its value in force, and where that is from.
package struct ConfigurationSetting: Equatable, Sendable {
    package enum Source: String, Sendable {
        /// A file of `$CREDENTIALS_DIRECTORY`.
        case credential
        case environment, file
        /// It follows from other keys.
        case derived
        case `default`
    }

    package enum Value: Equatable, Sendable {
        case text(String)
        case list([String])
        /// It is set, and not shown.
        case secret
    }

    package let key: String
    /// nil: none.
    package let value: Value?
    package let source: Source
}

extension SiteConfiguration {
    /// Every key of the configuration; of an app's group those that are set, or have a value anyway.
    /// - Parameters: as of `load`, which has read `configuration`.
    /// - Throws: `ConfigurationFault`, when the file cannot be read any more.
    package static func settings(
        of configuration: SiteConfiguration, file: String?, environment: Environment = .process
    ) throws(ConfigurationFault) -> (file: String?, settings: [ConfigurationSetting]) {
        let sources = try ConfigurationSources(file: file, environment, CredentialFiles(environment))
        let (values, defaults) = (configuration.valuesInForce, SiteConfiguration().valuesInForce)
        let keys = knownKeys.union(sources.file.keys).union(values.keys)
        let settings = keys.sorted().compactMap { key -> ConfigurationSetting? in
            let given = sources.setting(key)
            if given == nil, values[key] == nil, !ownKeys.contains(key) { return nil }
            let value = given.map { shown(key, values[key], $0.value) } ?? values[key]
            let isDefault = values[key] == (defaults[key] ?? configuration.appDefaults[key])
            return ConfigurationSetting(
                key: key, value: value, source: given?.source ?? (isDefault ? .default : .derived))
        }
        return (sources.path, settings)
    }

    /// - Parameter value: in force, as the configuration has it, with absolute paths; nil: it does not have it.
    private static func shown(
        _ key: String, _ value: ConfigurationSetting.Value?, _ given: GivenValue
    ) -> ConfigurationSetting.Value {
        // An address may have a user and a password in it; that of a proxy also without a scheme.
        let isSecret =
            secretKeys.contains(general(key))
            || given.texts.contains { $0.contains("@") && ($0.contains("://") || key.hasSuffix(".proxy")) }
        if isSecret { return .secret }
        if let value { return value }
        return switch given {
        case .text(let text): .text(text)
        case .list(let texts): .list(texts)
        }
    }

    /// The values of those keys that have one, whether they are set or not.
    fileprivate var valuesInForce: [String: ConfigurationSetting.Value] {
        let texts: [(String, String?)] =
            [
                ("hub.name", hub.name), ("hub.timeout", "\(hub.timeout)"), ("hub.caFile", hub.caFile),
                ("localHub.serve", "\(localHub.isServed)"), ("localHub.shared", "\(localHub.isShared)"),
                ("localHub.registrationsPerMinute", "\(localHub.registrationsPerMinute)"),
                ("store.path", store.folder), ("store.connections", connections.map { "\($0)" }),
                ("listenToRemotePeers", "\(allowsRemotePeers)"), ("workers", "\(workers)"),
                ("auth.realm", realm), ("policy.secureOnly", "\(policy.isSecureOnly)"),
                ("session.hours", "\(sessionHours)"), ("notifications.retentionDays", "\(retentionDays)"),
                ("inbox.plainDays", "\(plainDays)"), ("inbox.badges", "\(countsBadges)"),
                ("inbox.silentSync", "\(syncsInbox)"),
                ("log.level", logLevel.rawValue),
                ("webPush.privateKeyFile", vapidKeyFile), ("webPush.caFile", webPush.caFile),
                ("webPush.ttl", "\(webPush.timeToLive)"), ("webPush.timeout", "\(webPush.timeout)"),
            ] + secureForms + limits
        var values = appDefaults
        for case (let key, let text?) in texts { values[key] = .text(text) }
        values["hub.platforms"] = .list(hub.platforms.map(\.rawValue))
        values["localHub.hosts"] = .list(localHub.hosts)
        values["auth.methods"] = .list(authenticationMethods.map(\.rawValue))
        values["cors.origins"] = .list(foreignOrigins)
        values["policy.tags"] = .list(policy.defaultTags)
        values["policy.sendTo"] = .list(policy.defaultSendTo)
        values["users.roles"] = .list(policy.newUserRoles)
        return values
    }

    private var connections: Int? {
        if case .database(_, let connections) = store { connections } else { nil }
    }

    private var vapidKeyFile: String? {
        guard case .file(let path) = webPush.key else { return nil }
        return path ?? store.folder.map { "\($0)/\(VAPIDKeyFile.defaultName)" }
    }

    private var secureForms: [(String, String?)] {
        guard case .alert(let text, let key) = secureForm else { return [("secure.form", "silent")] }
        return [("secure.form", "alert"), ("secure.text", text), ("secure.locKey", key)]
    }

    private var limits: [(String, String?)] {
        [
            ("limits.bodyBytes", "\(bodyBytes)"), ("limits.drainSeconds", "\(drainSeconds)"),
            ("limits.sendsPerMinute", "\(userLimits.sends.perMinute)"),
            ("limits.sendsAtOnce", "\(userLimits.sends.atOnce)"),
            ("limits.registrationsPerMinute", "\(userLimits.registrations.perMinute)"),
            ("limits.registrationsAtOnce", "\(userLimits.registrations.atOnce)"),
            ("limits.listsPerMinute", "\(userLimits.lists.perMinute)"),
            ("limits.listsAtOnce", "\(userLimits.lists.atOnce)"),
            ("limits.bytesUnderWay", "\(userLimits.bytesUnderWay)"),
        ]
    }

    /// Of the apps that there are.
    private var appDefaults: [String: ConfigurationSetting.Value] {
        var values: [String: ConfigurationSetting.Value] = [:]
        for app in apns { values["\(app.group).environment"] = .text(app.environment.rawValue) }
        let calls =
            apns.map { ($0.group, $0.calls) } + fcm.map { ($0.group, $0.calls) } + wns.map { ($0.group, $0.calls) }
        for (group, calls) in calls { values["\(group).timeout"] = .text("\(calls.timeout)") }
        return values
    }
}
