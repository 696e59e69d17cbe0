// SPDX-License-Identifier: Apache-2.0
import NotificationHub
import Text
import WebPush

extension SiteConfiguration.WebPush {
    /// The longest that services are asked to keep a message, in seconds: four weeks, as FCM does.
    private static let maximumTimeToLive = 28 * 86_400

    /// - Parameter hasExternalHub: whether another hub delivers.
    init(_ reading: inout ConfigurationReading, hasExternalHub: Bool) {
        readKey(&reading, hasExternalHub: hasExternalHub)
        readSubject(&reading)
        readHosts(&reading)
        caFile = reading.certificates("webPush.caFile")
        proxy = reading.text("webPush.proxy")
        if let proxy, !Self.isProxy(proxy) {
            reading.fault("webPush.proxy", "must be http://, https://, socks5:// or socks5h://, a host and a port")
        }
        timeToLive = reading.number("webPush.ttl", 0...Self.maximumTimeToLive) ?? timeToLive
        timeout = reading.number("webPush.timeout", 1...120) ?? timeout
    }

    private mutating func readKey(_ reading: inout ConfigurationReading, hasExternalHub: Bool) {
        if let path = reading.path("webPush.privateKeyFile") { key = .file(path) }
        if let text = reading.text("webPush.privateKey") {
            do throws(VAPIDKey.Malformed) {
                key = .configuration(try VAPIDKey(Secret(text)))
            } catch {
                reading.fault("webPush.privateKey", "\(error)", of: .browser)
            }
        }
        if let text = reading.text("webPush.formerPrivateKey") {
            do throws(VAPIDKey.Malformed) {
                formerKey = try VAPIDKey(Secret(text))
            } catch {
                reading.fault("webPush.formerPrivateKey", "\(error)", of: .browser)
            }
        }
        guard let text = reading.text("webPush.publicKey") else { return }
        publicKey = VAPIDKey.publicKey(text)
        if publicKey == nil {
            reading.fault("webPush.publicKey", "must be Base64 of an uncompressed P-256 point, 87 characters")
        } else if !hasExternalHub {
            reading.fault("webPush.publicKey", "is only for another hub's key; the built-in hub has one of its own")
        }
    }

    private mutating func readSubject(_ reading: inout ConfigurationReading) {
        guard let text = reading.text("webPush.subject") else {
            if case .configuration = key { reading.fault("webPush.subject", PushService.missingSubject, of: .browser) }
            return
        }
        do throws(VAPIDSubject.Malformed) {
            subject = try VAPIDSubject(text)
        } catch {
            reading.fault("webPush.subject", "\(error)", of: .browser)
        }
    }

    private mutating func readHosts(_ reading: inout ConfigurationReading) {
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
