// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import Server
import Store

/// The command line of the executable.
package enum Program {
    /// Does what the process' arguments say, and ends the process with its status.
    package static func run() {
        AppBackendCommand.main()
    }
}

struct AppBackendCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app-backend",
        abstract: "Decides who is behind a device and who may be notified.",
        discussion: """
            A FastCGI responder behind nginx: it authenticates the users of a mobile app, registers their devices \
            with a notification hub, sends to users, and keeps the payloads of secure notifications. Without a command \
            it serves, unless a person has typed it: web servers start programs without arguments.
            """,
        version: Version.text,
        subcommands: [
            ServeCommand.self, ReloadCommand.self, InitCommand.self, CheckCommand.self, ConfigCommand.self,
            DoctorCommand.self,
            KeysCommand.self,
            UserCommand.self,
            DeviceCommand.self, SessionCommand.self, SendCommand.self, OutcomeCommand.self, MessageCommand.self,
            APNsCommand.self,
            StoreCommand.self, ImportCommand.self,
        ], defaultSubcommand: ServeCommand.self)

    /// As ArgumentParser's own, but for the exit status of a `doctor` that was not understood.
    static func main() {
        _ = Terminal.isRoots
        let arguments = Array(CommandLine.arguments.dropFirst())
        // Web servers hand over a socket, and a container's or a shell's `serve` is typed.
        if arguments.isEmpty, isatty(STDIN_FILENO) == 1 { exit(withError: CleanExit.helpRequest(self)) }
        if let message = CommandNames.message(forUnknownIn: arguments, of: self) {
            Terminal.printError(message)
            exit(withError: ExitCode.validationFailure)
        }
        do {
            var command = try parseAsRoot()
            try command.run()
        } catch {
            DoctorCommand.exitIfMisused(error)
            guard let hint = Terminal.hint(of: "\(error)") else { exit(withError: error) }
            exit(withError: CommandError("\(error). \(hint)"))
        }
    }
}

/// Where a command finds its configuration.
struct ConfigurationOptions: ParsableArguments {
    @Option(
        name: .customLong("config"),
        help: ArgumentHelp(
            "The configuration file.",
            discussion: """
                Default: $APP_BACKEND_CONFIG, else app-backend.json beside the executable, else \
                /etc/app-backend/app-backend.json. Every key can also be given as an environment variable: \
                store.path as APP_BACKEND_STORE_PATH.
                """, valueName: "file"))
    var file: String?

    /// - Parameters:
    ///   - sends: whether the command sends to devices, or tells of what is sent to them. Others work also where a credential
    ///     is missing or wrong.
    ///   - asService: whether files are read as the service's user, which tells what the service will make of them.
    ///   - environment: nil: as `Environment.ofCommand` finds it, which may ask systemd.
    /// - Throws: `ExitCode` 1, after every fault was printed, one a line.
    func load(
        sends: Bool = false, asService: Bool = false, _ environment: Environment? = nil
    ) throws -> SiteConfiguration {
        let environment = environment ?? .ofCommand(file: file)
        var (configuration, faults) =
            asService
            ? SiteConfiguration.loadAsService(file: file, environment: environment)
            : SiteConfiguration.load(file: file, environment: environment)
        if !sends { faults.removeAll { $0.channel != nil || $0.isOfApp } }
        return try Self.checked(configuration, faults)
    }

    /// With what this process was given and nothing else: the service's, which works without the platforms whose credentials
    /// are missing or wrong.
    /// - Throws: as `load`.
    func loadOfProcess() throws -> SiteConfiguration {
        var (configuration, faults) = SiteConfiguration.load(file: file)
        faults.removeAll { $0.channel != nil }
        return try Self.checked(configuration, faults)
    }

    private static func checked(
        _ configuration: SiteConfiguration?, _ faults: [ConfigurationFault]
    ) throws -> SiteConfiguration {
        guard faults.isEmpty, let configuration else {
            for fault in faults { Terminal.printError(fault.description) }
            if let hint = faults.lazy.compactMap({ Terminal.hint(of: $0.reason) }).first { Terminal.printError(hint) }
            throw ExitCode(1)
        }
        return configuration
    }

    /// The configuration, and the site's store, whatever it keeps its records in, opened as its owner.
    /// - Parameter migrates: as `Site.openStore`.
    func openStore(migrates: Bool = true) throws -> (configuration: SiteConfiguration, store: any SiteStore) {
        let environment = Environment.ofCommand(file: file)
        var configuration = try load(environment)
        try StoreOwner.dropPrivileges(toOwnerOf: &configuration, environment)
        let store = try Site.openStore(configuration, migrates: migrates) { Terminal.printError(of: $0) }
        return (configuration, store)
    }
}
