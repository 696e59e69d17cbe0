// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FastCGI
import Glibc
import Logging
import Server
import Store

struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Say what is wrong with the configuration, key by key.",
        discussion: """
            Looks as the service does: root becomes the service's user, and reads the credentials that its unit loads. Exits 0 when \
            everything is right, 1 when something is wrong.
            """)

    @OptionGroup var options: ConfigurationOptions
    @Flag(help: "Say nothing when everything is right.") var quiet = false

    /// The longest time that the service may take to answer.
    private static let questionSeconds: UInt16 = 5

    func run() throws {
        let environment = Environment.ofCommand(file: options.file)
        let configuration = try options.load(sends: true, asService: true, environment)
        let now = Site.now().seconds
        let faults = configuration.exposures + configuration.credentialStates.compactMap { $0.fault(now) }
        for fault in faults { Terminal.printError(fault.description) }
        guard faults.isEmpty else { throw ExitCode(1) }
        for warning in configuration.credentialStates.compactMap({ $0.warning(now) }) {
            Terminal.printError(warning.description)
        }
        let push: PushService.State
        do {
            // Before root is given up, which the service's socket may need.
            try StoreOwner.asServiceUser(of: configuration, environment) { () throws in
                try listen(configuration, environment)
            }
            // As the store's owner, which the service is: what root may read, the service perhaps may not. With a database there
            // is no such folder.
            var asOwner = configuration
            try StoreOwner.dropPrivileges(toOwnerOf: &asOwner, environment)
            push = try StoreOwner.asServiceUser(of: asOwner, environment) { () throws in try look(asOwner) }
        } catch let fault as ConfigurationFault {
            Terminal.printError(fault.description)
            throw ExitCode(1)
        } catch let error as StoreError {
            Terminal.printError("\(configuration.store.key): \(error)")
            if let hint = Terminal.hint(of: "\(error)") { Terminal.printError(hint) }
            throw ExitCode(1)
        }
        if configuration.isTest {
            Terminal.printError(
                "auth.method: test lets everybody in who gives a name as password; never on the internet")
        }
        if !quiet { describe(configuration, push) }
    }

    /// Looks at the store, and at the key of pushes to browsers.
    /// - Throws: `StoreError`, `ConfigurationFault`.
    private func look(_ configuration: SiteConfiguration) throws -> PushService.State {
        let store = try Site.openStore(configuration, migrates: false) { Terminal.printError(of: $0) }
        if let trouble = store.health().trouble { throw trouble }
        let users = try store.users()
        if !configuration.isTest && configuration.issuers.isEmpty && users.isEmpty {
            Terminal.printError("store: there are no users yet: app-backend user add NAME")
        }
        for row in UserRemarks(users, configuration).rows { Terminal.printError("store: \(row.found): \(row.fix)") }
        return try PushService.state(configuration)
    }

    /// Listens for a moment at the port of `listen`, or beside its unix socket, unless the service answers there already.
    /// - Throws: `ExitCode` 1, if the service could not listen there; the reason is printed.
    private func listen(_ configuration: SiteConfiguration, _ environment: Environment) throws(ExitCode) {
        do throws(ListenError) {
            let address = try ListenAddress(configuration.listen, allowNonLoopback: configuration.allowsRemotePeers)
            guard address != .inherited else { return }
            do throws(FastCGIProbe.Failure) {
                _ = try RunningService(at: address, seconds: Self.questionSeconds)
                return
            } catch {
                guard let trial = try Self.trial(of: address, error) else { return }
                _ = try Listener.open(trial)
            }
        } catch {
            Terminal.printError("configuration: listen: \(error)")
            // A unit may make the folder at the start, or allow a low port.
            guard environment.unit != nil, case .system = error else { throw ExitCode(1) }
        }
    }

    /// The address for the attempt: for a unix socket another file in its folder. At the socket itself the command would be in
    /// the way of a service that starts at this moment, and could remove its file.
    /// - Parameter failure: why the service has not answered.
    /// - Returns: nil, if the service may be busy or be stopping.
    static func trial(
        of address: ListenAddress, _ failure: FastCGIProbe.Failure
    ) throws(ListenError) -> ListenAddress? {
        if failure == .timedOut || failure == .hungUp { return nil }
        guard case .unix(let path) = address else { return address }
        if let file = FileMode(path) {
            guard file.kind == S_IFSOCK else { throw .notASocket(path) }
            // The service replaces the socket of a dead process, and it may have started since the question. A socket that only the
            // web server may use says nothing of who listens there.
            guard failure == .refused || failure == .missing || failure == .forbidden else { throw .inUse(path) }
        }
        let beside = path + ".check"
        return beside.utf8.count <= ListenAddress.maximumPathBytes ? .unix(path: beside) : address
    }

    private func describe(_ configuration: SiteConfiguration, _ push: PushService.State) {
        print("The configuration is right.")
        print(
            "  hub:    \(configuration.hub.description), platforms \(configuration.hub.platformNames.joined(separator: ", "))"
        )
        print("  store:  \(configuration.store)")
        print("  listen: \(configuration.listen ?? "the socket that is handed over")")
        print("  auth:   \(configuration.authenticationMethods.map(\.rawValue).joined(separator: ", "))")
        for issuer in configuration.issuers {
            print("          tokens of \(issuer.issuer), whose users are \(issuer.prefix).…")
        }
        switch push {
        case .on(let key, let former, let subject):
            print("  push:   browsers, as \(subject), public key \(key.publicKey)")
            if !former.isEmpty { print("          and \(former.count) kept from before a rotation") }
        case .off(let reason): print("  push:   no browsers: \(reason)")
        }
        for app in configuration.apns {
            let end = app.state?.end.map { ", certificate good until \(CredentialState.day($0))" } ?? ""
            print("          APNs: \(app.topic), \(app.environment.rawValue)\(end)")
        }
        for project in configuration.fcm { print("          FCM: project \(project.credential.projectID)") }
        for app in configuration.wns { print("          WNS: \(app.credential.app)") }
    }
}

extension SiteConfiguration.Hub {
    /// Which one, and where.
    var description: String {
        connection.map { "\(name) at \($0.endpoint)" } ?? "built-in hub \(name)"
    }

    var platformNames: [String] { platforms.map(\.rawValue) }
}
