// SPDX-License-Identifier: Apache-2.0
import Curl
import Doctor
import FastCGI
import Glibc
import HTTP
import Server

/// One walk through the steps: gathers what each of them judges, in an order in which root can become the store's owner
/// on the way.
struct Examination {
    let command: DoctorCommand
    /// The configuration file; nil: there is none.
    let file: String?
    let setting: SettingName
    let nginx: NginxFiles
    /// As far as it could be read.
    let configuration: SiteConfiguration
    let faults: [ConfigurationFault]
    /// Whether not even the file could be read.
    let isUnread: Bool
    /// What the service said; nil: nothing.
    var service: SocketStep.Service?
    var differences: [ClockStep.Difference] = []
    private(set) var report = Report()

    init(_ command: DoctorCommand, file: String?) {
        self.command = command
        self.file = file
        setting = SettingName(file: file)
        nginx = NginxFiles(folder: command.nginxFolder)
        let (configuration, faults) = SiteConfiguration.load(file: file)
        self.configuration = configuration ?? SiteConfiguration()
        self.faults = faults
        isUnread = configuration == nil
    }

    /// The longest that one question may take.
    var timeout: Duration { .seconds(command.timeout) }

    mutating func run() {
        add(.configuration, configurationFindings())
        add(.nginx, nginxFindings())
        add(.socket, socketFindings())
        let push = becomeOwner()
        add(.store, storeFindings(push))
        examineHub()
        add(.push, pushFindings(push))
    }

    mutating func add(_ step: Step, _ findings: [Finding]) {
        report.add(step, findings)
        guard !command.json else { return }
        for line in Report.lines(step, findings) { print(line) }
        // Who watches sees each step when it is done, also through a pipe.
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
                .wrong("\($0.key): \($0.reason)", cure: isUnread ? "the file; --config" : setting($0.key))
            }
        }
        let exposures = configuration.exposures.map { Finding.wrong("\($0.key): \($0.reason)", cure: setting($0.key)) }
        guard exposures.isEmpty else { return exposures + unusedSecrets() }
        let name = file ?? "no file"
        return [.ok("\(name): \(configuration.hub.description)")] + unusedSecrets()
    }

    /// The unit hands secrets over (LoadCredential=); a command that is typed gets none by itself.
    private func unusedSecrets() -> [Finding] {
        guard getenv("CREDENTIALS_DIRECTORY") == nil, let slash = file?.lastIndex(of: "/"), let file else { return [] }
        let folder = String(file[..<slash])
        return SiteConfiguration.secretKeys.filter { access("\(folder)/\($0)", F_OK) == 0 }.map { key in
            .warning(
                "\(folder)/\(key) lies there, and this command was not given it",
                cure: "`CREDENTIALS_DIRECTORY=\(folder) app-backend doctor …`")
        }
    }

    // MARK: nginx

    private mutating func nginxFindings() -> [Finding] {
        guard let address = command.url.flatMap({ SiteAddress($0) }) else {
            return NginxFilesStep(nginx, socket: socketName).findings()
        }
        let options = CurlOptions(
            timeout: timeout, caFile: command.caFile, userAgent: "app-backend-doctor/\(Version.text)",
            allowPlainHTTP: true)
        do {
            let transport = try CurlTransport(options)
            defer { transport.close() }
            let watch = ClockWatch(host: address.host, inner: transport, now: { Site.now().seconds })
            let probe = ConnectionProbe(
                scheme: address.scheme, authority: address.authority, caFile: command.caFile, timeout: timeout)
            let step = NginxStep(
                site: address, realm: isUnread ? nil : configuration.realm, files: nginx,
                transport: watch)
            let findings = step.findings(connect(probe), now: Site.now().seconds)
            differences += [watch.difference].compactMap(\.self)
            return findings
        } catch {
            return [.wrong("nginx cannot be asked: \(error)", cure: "`app-backend check`")]
        }
    }

    func connect(_ probe: ConnectionProbe) -> Result<ConnectionProbe.Connection, ConnectionProbe.Failure> {
        Result { () throws(ConnectionProbe.Failure) in try probe.connect() }
    }

    // MARK: socket

    /// What `listen` names; nil: the service is handed its socket, or nobody knows.
    private var listen: String? { isFaulty("listen") ? nil : configuration.listen }

    /// Where the service should answer.
    private var socketName: String { command.socket ?? listen ?? SocketStep.shippedPath }

    private mutating func socketFindings() -> [Finding] {
        guard command.socket != DoctorCommand.noSocket else {
            return [.skipped("the web server starts the service, so there is none")]
        }
        let name = socketName
        let address: ListenAddress
        do throws(ListenError) {
            address = try ListenAddress(name, allowNonLoopback: true)
        } catch {
            return [.wrong("\(error)", cure: setting("listen"))]
        }
        let step = SocketStep(
            name: name, address: address, isOurs: name == listen,
            webServerName: command.webServerUser ?? nginx.user ?? "www-data")
        let answer = Result { () throws(FastCGIProbe.Failure) in try step.ask(seconds: command.timeout) }
        if case .success(let answered) = answer { service = answered }
        let ours = RunningConfiguration(
            realm: configuration.realm, platforms: configuration.hub.platformNames, vapidPublicKey: nil)
        return step.findings(
            answer, version: Version.text, configuration: isFaulty("auth.", "hub.") ? nil : ours)
    }
}
