// SPDX-License-Identifier: Apache-2.0
import AppBackend
import ArgumentParser
import JSON
import Server
import Store
import Text

/// `app-backend session`
struct SessionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "session", abstract: "Manage a user's log-ins by cookie.", subcommands: [List.self, End.self])

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List a user's sessions, one a line: id, begin and end.",
            discussion: "The id is the beginning of a hash; no one can log in with it.")

        @OptionGroup var options: ConfigurationOptions
        @Flag(help: "Print one JSON array.") var json = false
        @Argument(help: "The user.") var name: String

        func run() throws {
            let store = try options.openStore(migrates: false).store
            let user = try UserCommand.existing(name, in: store)
            let sessions = try store.sessions(owner: user.owner, now: Site.now())
            guard !json else { return print(JSONWriter.array(sessions) { $0.writeMembers(to: &$1) }.text) }
            for session in sessions {
                print("\(session.shownID)  since \(session.createdAt.text)  until \(session.expiresAt.text)")
            }
        }
    }

    struct End: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "End a session of a user, or all of them.",
            discussion: "No process takes it any more when the command returns. The password stays as it is.")

        @OptionGroup var options: ConfigurationOptions
        @Flag(help: "End all sessions of the user.") var all = false
        @Argument(help: "The user.") var name: String
        @Argument(help: "The session's id, as `list` shows it.") var id: String?

        func validate() throws {
            if (id == nil) != all { throw ValidationError("Give the id of a session, or --all.") }
        }

        func run() throws {
            let administration = UserCommand.administration(nil, try options.openStore().store)
            let user = try administration.existing(name)
            guard let id else {
                let count = try administration.endSessions(of: user)
                return print("ended \(UserCommand.counted(count, "session", "sessions")) of \(user.name)")
            }
            try administration.endSession(id, of: user)
            print("ended \(id)")
        }
    }
}

extension Session {
    fileprivate func writeMembers(to json: inout JSONWriter) {
        json.member("id", shownID)
        json.member("createdAt", createdAt.text)
        json.member("expiresAt", expiresAt.text)
    }
}
