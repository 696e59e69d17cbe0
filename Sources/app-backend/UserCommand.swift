// SPDX-License-Identifier: Apache-2.0
import AppBackend
import ArgumentParser
import Store

struct UserCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user", abstract: "Manage who may log in.",
        discussion: "Passwords are read from a terminal without echo, or as one line from standard input.",
        subcommands: [Add.self, Password.self, UserChangeCommand.self, Remove.self, List.self, UserImportCommand.self])

    struct Add: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Add a user.")

        @OptionGroup var options: ConfigurationOptions
        @Argument(help: "Letters, digits and _ - @ # . ; not case-sensitive.") var name: String
        @Option(name: .customLong("tag"), help: "A pattern of tags that the user may claim; may be repeated.")
        var tags: [String] = []
        @Option(name: .customLong("send-to"), help: "A pattern of users that he may send to; may be repeated.")
        var sendTo: [String] = []
        @Flag(help: "Let no plain text of the user, or for the user, go through push services.")
        var secureOnly = false

        func run() throws {
            let store = try UserCommand.store(options)
            let name = try UserCommand.checked(name)
            var user = User(
                name: name, passwordHash: try UserCommand.newHash(), tags: tags.isEmpty ? nil : tags,
                sendTo: sendTo.isEmpty ? nil : sendTo)
            user.isSecureOnly = secureOnly
            do throws(StoreError) {
                _ = try store.putUser(user)
            } catch .conflict {
                throw Complaint("There is a user \(name) already; `user passwd` changes the password.")
            }
            print("added \(name)")
        }
    }

    struct Password: ParsableCommand {
        static let configuration = CommandConfiguration(commandName: "passwd", abstract: "Change a password.")

        @OptionGroup var options: ConfigurationOptions
        @Argument(help: "The user.") var name: String

        func run() throws {
            let store = try UserCommand.store(options)
            var user = try UserCommand.existing(name, in: store)
            user.passwordHash = try UserCommand.newHash()
            _ = try store.putUser(user)
            print("changed \(user.name)")
        }
    }

    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a user.",
            discussion:
                "He cannot log in any more. His devices stay registered until they unregister or the push service calls them gone, and a new user of the same name would inherit them."
        )

        @OptionGroup var options: ConfigurationOptions
        @Argument(help: "The user.") var name: String

        func run() throws {
            let store = try UserCommand.store(options)
            guard try store.removeUser(try UserCommand.checked(name)) else {
                throw Complaint("There is no user \(name).")
            }
            print("removed \(name)")
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the users, one a line.")

        @OptionGroup var options: ConfigurationOptions

        func run() throws {
            for user in try UserCommand.store(options).users() { print(user.name) }
        }
    }

    static func store(_ options: ConfigurationOptions) throws -> any SiteStore {
        var configuration = try options.load()
        try StoreOwner.become(for: &configuration)
        return try Site.openStore(configuration) { Terminal.complain(of: $0) }
    }

    /// - Throws: `Complaint`, when there is none of that name.
    static func existing(_ name: String, in store: any SiteStore) throws -> User {
        guard let user = try store.user(try checked(name)) else { throw Complaint("There is no user \(name).") }
        return user
    }

    private static func checked(_ name: String) throws -> String {
        guard let name = UserName(name) else {
            throw Complaint("A user's name has 1 to \(UserName.maximumLength) letters, digits and _ - @ # .")
        }
        return name.description
    }

    private static func newHash() throws -> String {
        guard let password = Terminal.readPassword(isNew: true) else { throw Complaint("No password was given.") }
        do {
            return try PasswordHash.make(password)
        } catch .unusablePassword {
            throw Complaint("A password has 1 to \(PasswordHash.maximumPasswordBytes) bytes.")
        }
    }
}
