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
            UserRemoveCommand.self, UserShowCommand.self, List.self, UserImportCommand.self, UserTokenCommand.self,
        ])

    struct Add: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Add a user.")

        @OptionGroup var options: ConfigurationOptions
        @Argument(help: "Letters, digits and _ - @ # . ; not case-sensitive.") var name: String
        @Option(name: .customLong("tag"), help: "A pattern of tags that the user may claim; may be repeated.")
        var tags: [String] = []
        @Option(name: .customLong("send-to"), help: "A pattern of users that this user may send to; may be repeated.")
        var sendTo: [String] = []
        @Option(name: .customLong("role"), help: "A role of the configuration; may be repeated.")
        var roles: [String] = []
        @Flag(help: "Let no plain text of the user, or for the user, go through push services.")
        var secureOnly = false

        func run() throws {
            let (configuration, store) = try options.openStore()
            try UserCommand.check(roles, in: configuration)
            let name = try UserCommand.checked(name)
            let hash = try UserCommand.newHash()
            try UserCommand.write(name, in: store) { former in
                do throws(NameIsUsedUp) {
                    var user = try User(
                        name: name, passwordHash: hash, tags: tags.isEmpty ? nil : tags,
                        sendTo: sendTo.isEmpty ? nil : sendTo, after: former, now: Site.now())
                    user?.roles = roles
                    if secureOnly { user?.isSecureOnly = true }
                    if let user { return user }
                } catch {
                    throw CommandError(UserCommand.nameIsUsedUp(name))
                }
                throw CommandError("There is a user \(name) already; `user passwd` changes the password.")
            }
            print("added \(name)")
        }
    }

    struct Password: ParsableCommand {
        static let configuration = CommandConfiguration(commandName: "passwd", abstract: "Change a password.")

        @OptionGroup var options: ConfigurationOptions
        @Flag(help: "Take the password away, of a user who logs in by an identity provider.") var none = false
        @Argument(help: "The user.") var name: String

        func run() throws {
            let store = try options.openStore().store
            let user = try UserCommand.existing(name, in: store)
            let hash = none ? "" : try UserCommand.newHash()
            try UserCommand.write(user.name, in: store) { _ in
                var user = try UserCommand.existing(name, in: store)
                user.passwordHash = hash
                return user
            }
            // They count no more. That their records are gone is for those who look.
            _ = try store.removeSessions(owner: user.owner)
            print("changed \(user.name)")
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the users, one a line.")

        @OptionGroup var options: ConfigurationOptions

        func run() throws {
            for user in try options.openStore().store.users() { print(user.name) }
        }
    }

    /// A site beside the store, for who has to tell the hub. To be closed.
    static func site(
        _ options: ConfigurationOptions
    ) throws -> (configuration: SiteConfiguration, site: Site, store: any SiteStore) {
        let (configuration, store) = try options.openStore()
        // What cannot be reached the command says itself.
        let logger = StderrLogHandler.logger(LogThreshold(.error))
        return (configuration, try Site(configuration, store: store, logger: logger), store)
    }

    /// Says what is left of the work, for which the service goes on.
    /// - Parameter sentence: of so many registrations, and why.
    /// - Throws: `ExitCode` 4, when there is anything left.
    static func finish(_ remains: UserRemains, _ sentence: (String, String) -> String) throws {
        guard let failure = remains.failure else { return }
        Terminal.printError(sentence(counted(remains.unreachable, "registration", "registrations"), failure))
        throw ExitCode(4)
    }

    static func counted(_ count: Int, _ one: String, _ many: String) -> String { "\(count) \(count == 1 ? one : many)" }

    static func nameIsUsedUp(_ name: String) -> String {
        "The name \(name) was removed before, and is too long to be told from that one: take another."
    }

    /// Writes what `make` makes of the record of that name, as it is then.
    static func write(_ name: String, in store: any SiteStore, _ make: (User?) throws -> User) throws {
        try store.changeUser(name, make)
    }

    /// - Throws: `CommandError`, when there is none of that name.
    static func existing(_ name: String, in store: any SiteStore) throws -> User {
        guard let user = try store.user(try stored(name, in: store)) else {
            throw CommandError("There is no user \(name).")
        }
        return user
    }

    /// As `existing(_:in:)`. An issuer's user needs no record: one without is what a record begins with. It has no password.
    static func existing(
        _ name: String, in store: any SiteStore, or configuration: SiteConfiguration
    ) throws -> User {
        let stored = try stored(name, in: store)
        guard configuration.hasIssuer(ofUser: stored), try store.userRecord(stored) == nil else {
            return try existing(name, in: store)
        }
        return User(name: stored, passwordHash: "")
    }

    /// Makes the record of an issuer's user who has none, for what is to be noted in it.
    static func record(_ user: User, in store: any SiteStore) throws {
        guard user.version == 0 else { return }
        try write(user.name, in: store) { $0 ?? user }
    }

    /// - Throws: `CommandError`, for a role that the configuration does not have.
    static func check(_ roles: [String], in configuration: SiteConfiguration) throws {
        for role in roles where !configuration.policy.roles.contains(where: { $0.name == role }) {
            throw CommandError("There is no role \(role) in the configuration.")
        }
    }

    /// The name as the store has it. A user whom an older version has let in under a name that is refused now can still be
    /// looked at and removed.
    static func stored(_ name: String, in store: any SiteStore) throws -> String {
        if UserName(name) == nil, try store.userRecord(name) != nil { return name }
        return try checked(name)
    }

    private static func checked(_ name: String) throws -> String {
        guard let name = UserName(name) else {
            throw CommandError(
                "A user's name has 1 to \(UserName.maximumLength) letters, digits and _ - @ # . (Unicode's form NFC)")
        }
        return name.description
    }

    private static func newHash() throws -> String {
        guard let password = Terminal.readPassword(isNew: true) else { throw CommandError("No password was given.") }
        do {
            return try PasswordHash.make(password)
        } catch .unusablePassword {
            throw CommandError("A password has 1 to \(PasswordHash.maximumPasswordBytes) bytes.")
        }
    }
}
