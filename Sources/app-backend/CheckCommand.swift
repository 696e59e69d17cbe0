// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Logging
import Store

struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Say what is wrong with the configuration, key by key.",
        discussion: "Exits 0 when everything is right, 1 when something is wrong.")

    @OptionGroup var options: ConfigurationOptions

    func run() throws {
        let configuration = try options.load()
        do {
            let store = try Site.openStore(configuration, asOwner: true) { Terminal.complain("store: \($0)") }
            guard store.health() == .writable else {
                Terminal.complain("store.path: the store cannot be written: \(store.health())")
                throw ExitCode(1)
            }
            let users = try store.users().count
            if configuration.authenticationMethod == .users && users == 0 {
                Terminal.complain("store: there are no users yet: app-backend user add NAME")
            }
        } catch let error as StoreError {
            Terminal.complain("store.path: \(error)")
            throw ExitCode(1)
        }
        if configuration.authenticationMethod == .test {
            Terminal.complain("auth.method: test lets everybody in who gives a name as password; never on the internet")
        }
        print("The configuration is right.")
        print(
            "  hub:    \(hub(configuration)), platforms \(configuration.hub.platforms.map(\.rawValue).joined(separator: ", "))"
        )
        print("  store:  \(configuration.storePath)")
        print("  listen: \(configuration.listen ?? "the socket that is handed over")")
        print("  auth:   \(configuration.authenticationMethod.rawValue)")
    }

    private func hub(_ configuration: SiteConfiguration) -> String {
        guard let connection = configuration.hub.connection else { return "local hub \(configuration.hub.name)" }
        return "\(configuration.hub.name) at \(connection.endpoint)"
    }
}
