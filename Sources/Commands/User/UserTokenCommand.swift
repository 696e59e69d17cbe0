// SPDX-License-Identifier: Apache-2.0
import AppBackend
import ArgumentParser
import DeviceAPI
import JSON
import Server
import Store
import Text

/// `app-backend user token`
struct UserTokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Manage a user's app tokens.",
        discussion: """
            An app token replaces a user's password, for an app or a script that must not know it, and \
            may do less than the user. It is sent as `Authorization: Bearer TOKEN`, or as the password beside the \
            user's name.
            """,
        subcommands: [Add.self, List.self, Revoke.self])

    struct Add: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make an app token, and print it.",
            discussion: """
                The token is printed this once, alone on standard output; the store has nothing of it but a hash. Its \
                id, for `list` and `revoke`, is printed on standard error.
                """)

        @OptionGroup var options: ConfigurationOptions
        @Argument(help: "The user.") var name: String
        @Option(
            name: .customLong("scope"),
            help: "What it may do: send, read (secure messages), register (devices); several with commas, or repeated.")
        var scopes: [String]
        @Option(name: .customLong("to"), help: "The only user that it may send to; may be repeated.")
        var recipients: [String] = []
        @Option(name: .customLong("expires"), help: "When it ends by itself, such as 90d; without it: never.")
        var expires: String?
        @Option(help: "What it is for, in words; shown in lists.") var label = ""

        func run() throws {
            let store = try options.openStore().store
            let user = try UserCommand.existing(name, in: store)
            let draft: AppTokenDraft
            do {
                draft = try AppTokenDraft(
                    scopes: scopes.flatMap { $0.split(separator: ",").map(String.init) },
                    recipients: recipients.isEmpty ? nil : recipients,
                    label: label, days: try days())
            } catch let problem as Problem {
                throw CommandError(problem.detail)
            }
            let (text, token) = try draft.issue(
                owner: user.owner, epoch: user.credentialEpoch, in: store, now: Site.now())
            print(text.text.reveal())
            Terminal.printError("made \(token.id) for \(user.name)")
        }

        private func days() throws(CommandError) -> Int? {
            guard let expires else { return nil }
            guard expires.last == "d", let days = Int(expires.dropLast()) else {
                throw CommandError("--expires takes a number of days, such as 90d.")
            }
            return days
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List a user's app tokens, one a line.")

        @OptionGroup var options: ConfigurationOptions
        @Flag(help: "Print one JSON array, as the HTTP API answers the user.") var json = false
        @Argument(help: "The user.") var name: String

        func run() throws {
            let store = try options.openStore(migrates: false).store
            let tokens = try UserTokenCommand.tokens(of: try UserCommand.existing(name, in: store), in: store)
            guard !json else { return print(JSONWriter.array(tokens) { $0.writeMembers(to: &$1) }.text) }
            let rows = tokens.map { token in
                [
                    token.id, token.scopes.joined(separator: ","),
                    token.recipients.map { "to " + $0.joined(separator: ",") } ?? "",
                    token.expiresAt.map { "until " + $0.text } ?? "without end",
                    token.lastUsedAt.map { "used " + $0.text } ?? "not used", token.label,
                ]
            }
            TextTable.lines(rows, textColumns: Set(0...5)).forEach { print($0) }
        }
    }

    struct Revoke: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "End an app token.", discussion: "No process takes it any more when the command returns.")

        @OptionGroup var options: ConfigurationOptions
        @Argument(help: "The user.") var name: String
        @Argument(help: "The token's id, as `list` shows it; never the token itself.") var id: String

        func run() throws {
            let store = try options.openStore().store
            let user = try UserCommand.existing(name, in: store)
            guard try store.removeAppToken(id, owner: user.owner) else {
                throw CommandError("\(user.name) has no app token of that id.")
            }
            print("revoked \(id)")
        }
    }

    /// Those that count.
    static func tokens(of user: User, in store: any SiteStore) throws(StoreError) -> [AppToken] {
        try store.appTokens(owner: user.owner, now: Site.now()).filter { $0.epoch == user.credentialEpoch }
    }
}
