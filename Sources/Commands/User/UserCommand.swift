// SPDX-License-Identifier: Apache-2.0
import AppBackend
import ArgumentParser
import Server
import Store

struct UserCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user", abstract: "Manage users.",
        discussion: "Passwords are read from a terminal without echo, or as one line from standard input.",
        subcommands: [
            Add.self, Password.self, UserChangeCommand.self, UserDisableCommand.self, UserEnableCommand.self,
            UserRemoveCommand.self, UserShowCommand.self, UserListCommand.self, UserImportCommand.self,
            UserTokenCommand.self,
        ])

    struct Add: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Add a user.")

        @OptionGroup var options: ConfigurationOptions
        @Argument(help: "Letters, digits and _ - @ # . ; not case-sensitive.") var name: String
        @Option(name: .customLong("tag"), help: "A pattern of tags that the user may claim; may be repeated.")
        var tags: [String] = []
        @Option(name: .customLong("send-to"), help: "A pattern of users that this user may send to; may be repeated.")
        var sendTo: [String] = []
        @Option(
            name: .customLong("role"), help: "A role of the configuration; may be repeated. Without it: users.roles.")
        var roles: [String] = []
        @Flag(help: "Let no plain text of the user, or for the user, go through push services.")
        var secureOnly = false

        func validate() throws { try UserCommand.check(patterns: tags + sendTo) }

        func run() throws {
            let (configuration, store) = try options.openStore()
            let administration = UserCommand.administration(configuration, store)
            try administration.check(roles)
            let name = try UserAdministration.checked(name)
            let added = try administration.add(
                name, passwordHash: try UserCommand.newHash(), tags: tags.isEmpty ? nil : tags,
                sendTo: sendTo.isEmpty ? nil : sendTo, roles: roles, isSecureOnly: secureOnly)
            print("added \(added)")
        }
    }

    struct Password: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "passwd", abstract: "Change a password.",
            discussion: "The user's log-ins by cookie end, and so do their app tokens, unless these are kept.")

        @OptionGroup var options: ConfigurationOptions
        @Flag(help: "Take the password away, of a user who logs in by an identity provider.") var none = false
        @Flag(help: "Let the user's app tokens go on.") var keepTokens = false
        @Argument(help: "The user.") var name: String

        func run() throws {
            let store = try options.openStore().store
            let user = try UserCommand.existing(name, in: store)
            let hash = none ? "" : try UserCommand.newHash()
            let told = try UserCommand.setPassword(hash, of: user.name, keepingTokens: keepTokens, in: store)
            print("changed \(user.name)" + told)
        }
    }

    /// Gives a user another password.
    /// - Returns: what became of the user's app tokens; empty where there are none.
    static func setPassword(
        _ hash: String, of name: String, keepingTokens: Bool, in store: any SiteStore
    ) throws -> String {
        let change = try administration(nil, store).setPassword(hash, of: name, keepingTokens: keepingTokens) { user in
            guard let user, user.removedAt == nil else { throw AdministrationError.noUser(name) }
            return user
        }
        if change.tokensEnded > 0 {
            return ": \(counted(change.tokensEnded, "app token has", "app tokens have")) ended"
        }
        guard change.tokensKept > 0 else { return "" }
        return ": \(counted(change.tokensKept, "app token goes", "app tokens go")) on"
    }

    /// A site beside the store, for who has to tell the hub. To be closed.
    static func site(
        _ options: ConfigurationOptions, migrates: Bool = true
    ) throws -> (configuration: SiteConfiguration, site: Site, store: any SiteStore) {
        let (configuration, store) = try options.openStore(migrates: migrates)
        return (configuration, try site(configuration, store), store)
    }

    /// The same for a command that has become the store's owner already.
    static func site(_ configuration: SiteConfiguration) throws -> (site: Site, store: any SiteStore) {
        let store = try Site.openStore(configuration) { Terminal.printError(of: $0) }
        return (try site(configuration, store), store)
    }

    private static func site(_ configuration: SiteConfiguration, _ store: any SiteStore) throws -> Site {
        // What cannot be reached the command says itself.
        let logger = StderrLogHandler.logger(LogThreshold(.error))
        return try Site(configuration, store: store, logger: logger)
    }

    /// Says what is left of the work, for which the service goes on.
    /// - Parameter sentence: of so many registrations, and why.
    /// - Throws: `ExitCode` 4, when there is anything left.
    static func finish(_ remains: UserRemains, _ sentence: (String, String) -> String) throws {
        guard let failure = remains.failure else { return }
        Terminal.printError(sentence(counted(remains.unreachable, "registration", "registrations"), failure))
        throw ExitCode(4)
    }

    /// Says that no user will be left for `/admin`, where that is so.
    static func warn(ofOnlyAdministrator name: String, _ administration: UserAdministration) throws {
        guard try administration.isOnlyAdministrator(name) else { return }
        Terminal.printError(
            "\(name) is the only user who may administer; `app-backend user change NAME --role …` lets another one")
    }

    static func counted(_ count: Int, _ one: String, _ many: String) -> String { "\(count) \(count == 1 ? one : many)" }

    /// What commands and administrators do alike.
    /// - Parameter configuration: nil, where users of issuers without a record do not count.
    static func administration(_ configuration: SiteConfiguration?, _ store: any SiteStore) -> UserAdministration {
        UserAdministration(
            store: store, policy: configuration?.policy ?? TagPolicy(),
            hasIssuer: { configuration?.hasIssuer(ofUser: $0) ?? false }, now: Site.now)
    }

    /// - Throws: `ValidationError`, for a pattern that nothing can match.
    static func check(patterns: [String]) throws {
        if !patterns.allSatisfy(TagPolicy.isPossible) {
            throw ValidationError("--tag and --send-to take patterns of letters, digits, _ @ # . : - and *.")
        }
    }

    /// - Throws: `AdministrationError`, when no user has that name.
    static func existing(_ name: String, in store: any SiteStore) throws -> User {
        try administration(nil, store).existing(name)
    }

    /// As `existing(_:in:)`, also an issuer's user without a record.
    static func existing(
        _ name: String, in store: any SiteStore, or configuration: SiteConfiguration
    ) throws -> User {
        try administration(configuration, store).existing(name)
    }

    private static func newHash() throws -> String {
        guard let password = try Terminal.readPassword(isNew: true) else {
            throw CommandError("No password was given.")
        }
        if UserAdministration.isShort(password) {
            Terminal.printError(
                "The password has fewer than \(UserAdministration.minimumPassword) characters, which is soon guessed.")
        }
        return try UserAdministration.hash(password)
    }
}
