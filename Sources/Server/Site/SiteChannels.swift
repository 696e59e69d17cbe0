// SPDX-License-Identifier: Apache-2.0
import APNs
import Curl
import FCM
import HTTP
import Metrics
import NotificationHub
import Push
import Text
import WNS
import WebPush

/// The channels of the built-in hub: to browsers, and to each app of the configuration. Each has connections of its own.
struct SiteChannels {
    /// The largest answer that is read, in bytes: a sentence about what was wrong, or an access token.
    private static let maximumResponseBytes = 64 << 10
    /// Apple wants a connection to be kept for hours, and takes quick reconnecting for an attack. TCP's own probes keep
    /// routers from forgetting it.
    private static let appleIdleSeconds = 4 * 3_600
    /// One transport carries the pushes to all browsers' services, so what waits for one of them is not known.
    private static let maximumToBrowsers = 400
    /// Twice as many as the hub hands over: test sends and the doctor's come besides.
    private static let maximumQueued = 2_048
    /// WNS speaks HTTP/1.1, so a connection carries one push at a time: with answers after 50 ms, 20 a second.
    private static let connectionsToWNS = 64
    /// Of the right form, and of no device.
    private static let impossibleToken = String(repeating: "0", count: 64)

    private(set) var channels: [PushChannel] = []
    private(set) var webPush: WebPushDriver?
    /// Shows each app's credential to its service, by the channel's name, without reaching a device.
    private(set) var probes: [(channel: String, ask: @Sendable (@escaping @Sendable (PushResult) -> Void) -> Void)] = []
    /// Until when credentials are good, by the channel's name, in seconds since 1970; only where that is known.
    private(set) var expiries: [String: Int64] = [:]
    /// Why a platform of the configuration is off; the operator has read of it.
    private(set) var faults: [ConfigurationFault]
    private var closing: [@Sendable () -> Void] = []

    private let metrics: PushMetrics
    private let now: @Sendable () -> Int64
    private let report: @Sendable (String) -> Void

    /// - Parameters:
    ///   - now: seconds since 1970.
    ///   - report: receives what the operator should know.
    /// - Throws: `TransportError`.
    init(
        _ configuration: SiteConfiguration, metrics: PushMetrics, now: @escaping @Sendable () -> Int64,
        report: @escaping @Sendable (String) -> Void
    ) throws {
        (self.metrics, self.now, self.report) = (metrics, now, report)
        faults = configuration.channelFaults
        do {
            try addBrowsers(configuration)
            for app in configuration.apns { try add(app, of: configuration.apns) }
            for project in configuration.fcm { try add(project, of: configuration.fcm) }
            for app in configuration.wns { try add(app, of: configuration.wns) }
            for fault in faults { report("\(fault)") }
        } catch {
            close()
            throw error
        }
    }

    /// Platforms whose devices are reached.
    var platforms: Set<Platform> { Set(channels.map(\.driver.platform)) }

    /// Ends the network's threads; pushes in flight fail.
    func close() {
        for close in closing { close() }
    }

    private mutating func addBrowsers(_ configuration: SiteConfiguration) throws {
        guard let push = try makePushService(configuration) else { return }
        closing.append { push.transport.close() }
        webPush = push.driver
        let metrics = metrics
        let sender = push.driver.reachingFormerKeys(
            metrics.measuring(TransportSender(push.transport), for: .browser),
            onFormerKey: { metrics.formerKeys.increment() })
        channels.append(
            PushChannel(
                name: "browser", driver: metrics.measuring(push.driver), sender: sender, services: .byAuthority,
                maximumInFlight: Self.maximumToBrowsers, now: now, report: report))
    }

    /// - Returns: nil, when browsers are not pushed to; also for a key that is of no use, which is then among the faults.
    private mutating func makePushService(
        _ configuration: SiteConfiguration
    ) throws -> (driver: WebPushDriver, transport: CurlTransport)? {
        do {
            return try PushService.make(configuration, now: now)
        } catch let fault as ConfigurationFault where fault.channel != nil {
            if !faults.contains(fault) { faults.append(fault) }
            return nil
        }
    }

    private mutating func add(_ app: SiteConfiguration.APNsApp, of apps: [SiteConfiguration.APNsApp]) throws {
        var options = Self.options(app.calls)
        options.maximumConnectionsPerHost = 1
        options.maximumStreams = 1_000
        options.maximumIdleSeconds = Self.appleIdleSeconds
        // `APNsSender` does it, which lets one push go alone over a new connection.
        options.maximumResends = 0
        var key: APNsKey?
        switch app.credential {
        case .key(let known): key = known
        case .certificate(let certificate): options.clientCertificate = certificate
        }
        guard let authority = app.calls.endpoint?.authority ?? Authority(app.environment.authority) else { return }
        let driver = APNsDriver(
            topic: app.topic, authority: authority,
            hasOtherEnvironment: apps.contains { $0.topic == app.topic && $0.environment != app.environment },
            hasOtherTopic: apps.contains { $0.topic != app.topic }, now: now)
        let sender = APNsSender(key: key, now: now) { [options] in
            let transport = try CurlTransport(options)
            return APNsTransport(transport) { transport.close() }
        }
        closing.append { sender.close() }
        var name = "apns"
        if Set(apps.map(\.topic)).count > 1 { name += " \(app.topic)" }
        if app.environment == .sandbox { name += " sandbox" }
        let channel = add(driver, name: name, app: app.topic, sender)
        expiries[name] = app.state?.end
        addProbe(channel, try? driver.request(for: .background, to: DeviceHandle.apns(Self.impossibleToken)))
    }

    private mutating func add(
        _ project: SiteConfiguration.FCMProject, of projects: [SiteConfiguration.FCMProject]
    ) throws {
        let endpoint = project.calls.endpoint
        let endpointText = endpoint.map { "\($0.scheme)://\($0.authority)" } ?? FCMDriver.defaultEndpoint
        // Checked when the configuration was read.
        let id = project.credential.projectID
        guard
            let driver = FCMDriver(
                project: id, endpoint: endpointText, hasOtherProject: projects.count > 1, now: now)
        else { return }
        var exceptions = project.credential.localAuthorities
        if let endpoint { exceptions.insert(endpoint.authority.hostAndPort) }
        let source = project.credential.tokenSource(
            readFile: { ConfigurationFile.read($0) }, now: now)
        let name = projects.count > 1 ? "fcm \(id)" : "fcm"
        let channel = try add(
            driver, name: name, app: id, source, project.calls, exceptions: exceptions,
            allowsPlainHTTP: project.credential.usesPlainHTTP
        ).channel
        addProbe(channel, driver.validationRequest())
    }

    private mutating func add(_ app: SiteConfiguration.WNSApp, of apps: [SiteConfiguration.WNSApp]) throws {
        let driver = WNSDriver(endpoint: app.calls.endpoint, now: now)
        let exceptions = Set([app.calls.endpoint, app.tokenEndpoint].compactMap { $0?.authority.hostAndPort })
        let source = app.credential.tokenSource
        let (channel, tokens) = try add(
            driver, name: apps.count > 1 ? "wns \(app.credential.app)" : "wns", app: app.credential.app, source,
            app.calls, exceptions: exceptions, allowsPlainHTTP: false, connections: Self.connectionsToWNS)
        // There is no invented device that WNS could be asked for; the token shows whether it knows the app.
        expiries[channel.name] = app.state?.end
        probes.append((channel.name, { completion in source.fetch(by: tokens) { completion(PushResult($0)) } }))
    }

    /// A channel of a service that issues access tokens.
    /// - Parameters:
    ///   - allowsPlainHTTP: whether tokens may be fetched without TLS, as from a cloud machine's metadata server.
    ///   - connections: to one host at once, each with one push at a time; nil: what is usual.
    private mutating func add(
        _ driver: any PushDriver, name: String, app: String, _ source: any TokenSource,
        _ calls: SiteConfiguration.PushServiceCalls,
        exceptions: Set<String>, allowsPlainHTTP: Bool, connections: Int? = nil
    ) throws -> (channel: PushChannel, tokens: CurlTransport) {
        var options = Self.options(calls)
        options.addresses = .publicOnly(except: exceptions)
        options.maximumConnectionsPerHost = connections ?? options.maximumConnectionsPerHost
        let pushes = try CurlTransport(options)
        closing.append { pushes.close() }
        options.allowPlainHTTP = allowsPlainHTTP
        let tokens = try CurlTransport(options)
        closing.append { tokens.close() }
        let sender = BearerSender(source: source, tokens: tokens, pushes: pushes)
        return (add(driver, name: name, app: app, sender, maximumInFlight: connections), tokens)
    }

    private mutating func add(
        _ driver: any PushDriver, name: String, app: String, _ sender: any PushSender, maximumInFlight: Int? = nil
    ) -> PushChannel {
        let channel = PushChannel(
            name: name, app: app, driver: metrics.measuring(driver),
            sender: metrics.measuring(sender, for: driver.platform), maximumInFlight: maximumInFlight, now: now,
            report: report)
        channels.append(channel)
        return channel
    }

    private mutating func addProbe(_ channel: PushChannel, _ request: Request?) {
        guard let request else { return }
        probes.append((channel.name, { completion in channel.send(request, completion) }))
    }

    private static func options(_ calls: SiteConfiguration.PushServiceCalls) -> CurlOptions {
        CurlOptions(
            timeout: .seconds(calls.timeout), caFile: calls.caFile, userAgent: "app-backend/\(Version.text)",
            maximumResponseBytes: maximumResponseBytes, maximumQueued: maximumQueued)
    }
}

extension HubNotification {
    /// Nothing that a device would show.
    fileprivate static let background = HubNotification.apns(
        json: Array(#"{"aps":{"content-available":1}}"#.utf8),
        headers: [PushHeader("apns-push-type", "background"), PushHeader("apns-priority", "5")])
}

extension PushResult {
    fileprivate init(_ token: Result<AccessToken, CredentialError>) {
        switch token {
        case .success: self.init(.success)
        case .failure(.unavailable): self.init(.pnsUnreachable, .retry(afterSeconds: nil))
        case .failure(.unanswered(let reason, let fault)):
            self.init(.pnsUnreachable, .retry(afterSeconds: nil), reason: reason)
            self.fault = fault
        case .failure(.refused(let reason)): self.init(.invalidCredentials, .holdCredential(reason: reason))
        }
    }
}

extension Authority {
    /// As requests name it, and exceptions of an address policy do.
    var hostAndPort: String { "\(host):\(port ?? 443)" }
}
