// SPDX-License-Identifier: Apache-2.0
import Curl
import FastCGI
import Glibc
import HTTP
import NotificationHub
import Server
import Store

/// One walk through the steps: gathers what each of them judges, in an order in which root can become the store's owner
/// on the way.
struct DoctorRun {
    private static let now: @Sendable () -> Int64 = { Site.now().seconds }

    /// How the site is looked at.
    struct Options: Sendable {
        /// The site's address; nil: nginx is not asked.
        var url: String?
        /// As `--socket`.
        var socket: String?
        /// Certificates to trust at `url`.
        var caFile: String?
        /// Seconds that one question may take.
        var timeout: UInt16 = 5
        /// The user who is sent a notification; nil: nothing is sent.
        var sendTo: String?
        /// Whether each step is printed when it is done.
        var isPrinting = false
        /// The service in this process, which is looked at from within; nil: the one at its socket is.
        var running: RunningSite?
    }

    let options: Options
    /// The configuration file; nil: there is none.
    let file: String?
    let setting: SettingName
    let environment: Environment
    /// As far as it could be read.
    let configuration: SiteConfiguration
    let faults: [ConfigurationFault]
    /// Whether not even the file could be read.
    let isUnread: Bool
    /// What the service said; nil: nothing.
    var service: RunningService?
    var differences: [ClockDifference] = []
    private(set) var report = DoctorReport()

    init(_ options: Options, file: String?) {
        self.options = options
        self.file = file
        setting = SettingName(file: file)
        environment = options.running == nil ? .ofCommand(file: file) : .process
        let (configuration, faults) =
            options.running == nil
            ? SiteConfiguration.loadAsService(file: file, environment: environment)
            : SiteConfiguration.load(file: file)
        self.configuration = configuration ?? SiteConfiguration()
        self.faults = faults
        isUnread = configuration == nil
    }

    /// The longest that one question may take.
    var timeout: Duration { .seconds(options.timeout) }

    mutating func run() {
        add(.configuration, configurationFindings())
        add(.nginx, nginxFindings())
        add(.socket, socketFindings())
        let owner = becomeOwner()
        // The service is that user already, and all its threads would become another.
        guard options.running == nil else { return addAsService(owner) }
        // With a database, root has become the owner of no folder.
        StoreOwner.asServiceUser(of: configuration, environment) { addAsService(owner) }
    }

    /// The steps that read what the service reads, as its user.
    private mutating func addAsService(_ owner: AsOwner?) {
        add(.store, storeFindings(owner))
        add(.issuers, issuerFindings())
        addHub()
        add(.push, pushFindings(owner) + channelFindings())
        if let name = options.sendTo { add(.send, sendFindings(owner, to: name)) }
    }

    private mutating func add(_ step: Step, _ findings: [Finding]) {
        report.add(step, findings)
        guard options.isPrinting else { return }
        for line in DoctorReport.lines(step, findings) { print(line) }
        // Each step is seen when it is done, also through a pipe.
        fflush(nil)
    }

    /// Whether what the configuration says under these keys cannot be relied on.
    func isFaulty(_ prefixes: String...) -> Bool {
        isUnread || faults.contains { fault in prefixes.contains { fault.key.hasPrefix($0) } }
    }

    // MARK: configuration

    private func configurationFindings() -> [Finding] {
        guard faults.isEmpty else {
            return faults.map {
                .fail(
                    "\($0.key): \($0.reason)",
                    fix: isUnread || $0.key == file ? "the file; --config" : setting($0.key))
            } + unusedSecrets()
        }
        let found = exposedOrEnding()
        return (found.isEmpty ? [.ok("\(file ?? "no file"): \(configuration.hub.description)")] : found)
            + unusedSecrets()
    }

    /// Secrets that others may read, and credentials that are near their end.
    private func exposedOrEnding() -> [Finding] {
        let (now, states) = (Self.now(), configuration.credentialStates)
        let faults = configuration.exposures + states.compactMap { $0.fault(now) }
        let failures = faults.map { Finding.fail("\($0.key): \($0.reason)", fix: setting($0.key)) }
        let warnings = states.compactMap { $0.warning(now) }
        return failures + warnings.map { Finding.warning("\($0.key): \($0.reason)", fix: setting($0.key)) }
    }

    /// The unit hands secrets over (LoadCredential=); a command that is typed gets none by itself.
    private func unusedSecrets() -> [Finding] {
        guard let file, let slash = file.lastIndex(of: "/") else { return [] }
        let folder = String(file[..<slash])
        let isService = options.running != nil || environment.unit != nil
        return SettingTable.all.secretKeys.filter { key in
            !environment.hasCredential(key) && access("\(folder)/\(key)", F_OK) == 0
        }.map { key in
            .warning(
                "\(folder)/\(key) exists, and this \(isService ? "service" : "command") was not given it",
                fix: isService
                    ? "`LoadCredential=\(key):\(folder)/\(key)` in the unit, then `systemctl restart app-backend`"
                    : "`CREDENTIALS_DIRECTORY=\(folder) app-backend doctor …`")
        }
    }

    // MARK: nginx

    private mutating func nginxFindings() -> [Finding] {
        guard options.running == nil else {
            return [.skipped("not asked from here: `app-backend doctor --url https://push.example.com` asks it")]
        }
        guard let address = options.url.flatMap({ SiteAddress($0) }) else {
            return [.skipped("not asked; --url https://push.example.com, the address that apps call, asks it")]
        }
        let options = CurlOptions(
            timeout: timeout, caFile: options.caFile, userAgent: "app-backend-doctor/\(Version.text)",
            allowPlainHTTP: true)
        do {
            let transport = try CurlTransport(options)
            defer { transport.close() }
            let recorder = DateRecorder(host: address.host, inner: transport, now: Self.now)
            let probe = ConnectionProbe(
                scheme: address.scheme, authority: address.authority, caFile: options.caFile, timeout: timeout)
            let step = NginxStep(site: address, transport: recorder)
            let findings = NginxFindings(site: address, realm: isUnread ? nil : configuration.realm)
                .findings(connect(probe), now: Self.now()) { try step.ask($0) }
            differences += [recorder.difference].compactMap(\.self)
            return findings
        } catch {
            return [.fail("nginx cannot be asked: \(error)", fix: "`app-backend check`")]
        }
    }

    private func connect(_ probe: ConnectionProbe) -> Result<ConnectionProbe.Connection, ConnectionProbe.Failure> {
        Result { () throws(ConnectionProbe.Failure) in try probe.connect() }
    }

    // MARK: socket

    private mutating func socketFindings() -> [Finding] {
        if let running = options.running { return serviceFindings(running) }
        guard options.socket != DoctorCommand.noSocket else {
            return [.skipped("the web server starts the service, so there is none")]
        }
        // nil: the service is handed its socket, or the configuration cannot be relied on.
        let listen = isFaulty("listen") ? nil : configuration.listen
        let name = options.socket ?? listen ?? SocketFindings.shippedPath
        let address: ListenAddress
        do throws(ListenError) {
            address = try ListenAddress(name, allowNonLoopback: true)
        } catch {
            return [.fail("\(error)", fix: setting("listen"))]
        }
        let answer = Result { () throws(FastCGIProbe.Failure) in
            try RunningService(at: address, seconds: options.timeout)
        }
        if case .success(let answered) = answer { service = answered }
        return SocketFindings(name: name, address: address, isSystemds: name != listen).findings(
            answer, version: Version.text, configuration: asConfigured)
    }

    /// What a service of this configuration says of itself; nil, where it cannot be relied on.
    var asConfigured: RunningConfiguration? {
        guard !isFaulty("auth.", "hub.") else { return nil }
        return RunningConfiguration(
            realm: configuration.realm, platforms: configuration.hub.platformNames, vapidPublicKey: nil)
    }

    // MARK: issuers

    private func issuerFindings() -> [Finding] {
        guard !isFaulty("auth.") else { return [.skipped("the configuration is not right")] }
        guard !configuration.issuers.isEmpty else { return [.skipped("auth.issuers names none")] }
        let judge = IssuerFindings(setting: setting)
        do {
            let answers = try IssuerProbe.ask(configuration.issuers, timeout: timeout)
            return answers.map { judge.finding($0.issuer, $0.answer) }
        } catch {
            return [.fail("the issuers cannot be asked: \(error)", fix: "`app-backend check`")]
        }
    }

    // MARK: clock, tls, key, hub

    /// The four steps that are judged by one conversation with the hub, in the order of their causes.
    private mutating func addHub() {
        guard !isFaulty("hub."), let connection = configuration.hub.connection else {
            add(.clock, clockFindings())
            for step in [Step.tls, .key] { add(step, [.skipped("no hub is called")]) }
            return add(
                .hub,
                [
                    isFaulty("hub.")
                        ? .skipped("the configuration is not right")
                        : .ok("\(configuration.hub.name), the built-in hub")
                ])
        }
        let judge = HubFindings(
            name: configuration.hub.name, host: connection.endpoint, keyName: connection.keyName,
            caFile: configuration.hub.caFile, platforms: configuration.hub.platformNames, setting: setting)
        let reached = connect(
            ConnectionProbe(
                scheme: connection.scheme, authority: connection.endpoint, caFile: configuration.hub.caFile,
                proxy: configuration.hub.proxy, timeout: timeout))
        var answer: HubAnswer?
        if case .success = reached { answer = ask(connection) }
        add(.clock, clockFindings())
        add(.tls, [judge.tls(reached, now: Self.now())])
        add(.key, [judge.key(answer, isClockWrong: differences.contains(where: \.isTooLarge))])
        add(.hub, [judge.hub(reached, answer)])
    }

    private func clockFindings() -> [Finding] {
        ClockFindings(
            isSynchronized: ClockFindings.isKernelClockSynchronized, differences: differences,
            hasExternalHub: configuration.hub.connection != nil
        ).findings()
    }

    private mutating func ask(_ connection: ConnectionString) -> HubAnswer {
        var options = CurlOptions()
        options.timeout = min(.seconds(configuration.hub.timeout), timeout)
        options.caFile = configuration.hub.caFile
        options.proxy = configuration.hub.proxy
        options.userAgent = "app-backend-doctor/\(Version.text)"
        do throws(TransportError) {
            let transport = try CurlTransport(options)
            defer { transport.close() }
            let recorder = DateRecorder(host: connection.endpoint, inner: transport, now: Self.now)
            let client = HubClient(
                connection: connection, hub: configuration.hub.name, transport: recorder, now: Self.now)
            let answer = HubAnswer(Result { () throws(HubError) in try client.probe() })
            differences += [recorder.difference].compactMap(\.self)
            return answer
        } catch {
            return .noAnswer("\(error)")
        }
    }
}
