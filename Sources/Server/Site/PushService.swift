// SPDX-License-Identifier: Apache-2.0
import Curl
import NotificationHub
package import WebPush

/// What pushes to browsers, made as the configuration says.
package enum PushService {
    /// Whether browsers are pushed to.
    package enum State {
        /// With the keys from before the last rotations, the latest first.
        case on(key: VAPIDKey, former: [VAPIDKey], subject: VAPIDSubject)
        /// With the reason, for the operator.
        case off(String)
    }

    /// Where the state is in a database, it may be that of several hosts.
    private static let namedFile = " in the file of webPush.privateKeyFile, the same one for all hosts"

    package static let missingSubject =
        "is needed as there is a key: mailto:you@example.com, where push services reach you"

    /// The largest answer that is read, in bytes: a sentence about what was wrong.
    private static let maximumResponseBytes = 64 << 10

    /// Reads the key. To be called before a command becomes the store's owner, who may not be able to read the key's path.
    /// - Throws: `ConfigurationFault`, when there is a key and it cannot be used.
    package static func state(_ configuration: SiteConfiguration) throws(ConfigurationFault) -> State {
        if configuration.hub.connection != nil { return .off("the hub of hub.connectionString delivers by itself") }
        guard configuration.hub.platforms.contains(.browser) else { return .off("hub.platforms has no browser") }
        if let fault = configuration.channelFaults.first(where: { $0.channel == .browser }) { throw fault }
        guard let key = try key(configuration) else {
            let place = keyFile(configuration) == nil ? Self.namedFile : ""
            return .off("there is no key; `app-backend keys vapid` makes one\(place)")
        }
        guard let subject = configuration.webPush.subject else {
            throw ConfigurationFault(key: "webPush.subject", reason: missingSubject, channel: .browser)
        }
        return .on(key: key, former: try formerKeys(configuration), subject: subject)
    }

    /// The driver for the local hub, and the door through which its requests go; the caller closes it.
    /// - Parameter now: seconds since 1970.
    /// - Returns: nil, when browsers are not pushed to; `state` says why.
    /// - Throws: `ConfigurationFault`, as `state`; `TransportError`.
    static func make(
        _ configuration: SiteConfiguration, now: @escaping @Sendable () -> Int64
    ) throws -> (driver: WebPushDriver, transport: CurlTransport)? {
        guard case .on(let key, let former, let subject) = try state(configuration) else { return nil }
        let settings = configuration.webPush
        let driver = WebPushDriver(
            key: key, formerKeys: former, subject: subject, hosts: settings.hosts, timeToLive: settings.timeToLive,
            now: now)
        return (driver, try CurlTransport(curlOptions(settings)))
    }

    /// nil: no file is named, and the state is in no folder that it could lie in.
    package static func keyFile(_ configuration: SiteConfiguration) -> VAPIDKeyFile? {
        if case .file(let path?) = configuration.webPush.key { return VAPIDKeyFile(path: path) }
        return configuration.store.folder.map { VAPIDKeyFile(path: $0 + "/" + VAPIDKeyFile.defaultName) }
    }

    private static func key(_ configuration: SiteConfiguration) throws(ConfigurationFault) -> VAPIDKey? {
        if case .configuration(let key) = configuration.webPush.key { return key }
        do throws(VAPIDKeyFile.Failure) {
            return try keyFile(configuration)?.read()
        } catch {
            throw unusable(configuration, error)
        }
    }

    /// That of `webPush.formerPrivateKey`, and those of the file beside the key's.
    private static func formerKeys(_ configuration: SiteConfiguration) throws(ConfigurationFault) -> [VAPIDKey] {
        let configured = [configuration.webPush.formerKey].compactMap(\.self)
        guard case .file = configuration.webPush.key, let file = keyFile(configuration) else { return configured }
        do throws(VAPIDKeyFile.Failure) {
            return configured + (try file.former.readAll())
        } catch {
            throw unusable(configuration, error, suffix: VAPIDKeyFile.formerSuffix)
        }
    }

    private static func unusable(
        _ configuration: SiteConfiguration, _ failure: VAPIDKeyFile.Failure, suffix: String = ""
    ) -> ConfigurationFault {
        let name =
            if case .file(let path?) = configuration.webPush.key { path + suffix } else {
                "vapid.key\(suffix) of the store"
            }
        return ConfigurationFault(key: "webPush.privateKeyFile", reason: "\(name) \(failure)", channel: .browser)
    }

    private static func curlOptions(_ settings: SiteConfiguration.WebPush) -> CurlOptions {
        CurlOptions(
            timeout: .seconds(settings.timeout), caFile: settings.caFile, proxy: settings.proxy,
            addresses: .publicOnly(except: settings.hosts.privateAuthorities),
            userAgent: "app-backend/\(Version.text)", maximumResponseBytes: maximumResponseBytes)
    }
}
