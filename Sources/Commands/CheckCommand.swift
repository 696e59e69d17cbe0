// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
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
            // As the store's owner, which the service is: what root may read, the service perhaps may not.
            var asOwner = configuration
            try StoreOwner.dropPrivileges(toOwnerOf: &asOwner)
            let store = try Site.openStore(asOwner, migrates: false) { Terminal.printError(of: $0) }
            if let trouble = store.health().trouble { throw trouble }
            let users = try store.users()
            if !configuration.isTest && configuration.issuers.isEmpty && users.isEmpty {
                Terminal.printError("store: there are no users yet: app-backend user add NAME")
            }
            for row in UserRemarks(users, configuration).rows { Terminal.printError("store: \(row.found): \(row.fix)") }
            push = try StoreOwner.asServiceUser(of: asOwner, environment) {
                () throws(ConfigurationFault) in try PushService.state(asOwner)
            }
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
