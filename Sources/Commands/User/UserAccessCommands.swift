// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Server
import Store
import Text

/// `app-backend user disable`
struct UserDisableCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable", abstract: "Let a user log in no more, and keep all that is theirs.",
        discussion: """
            Their password is answered like a wrong one, their sessions and app tokens end and do not come back. What is \
            sent to them is kept and delivered as before; `user remove` ends that too. `user enable` undoes it, but for \
            sessions and tokens.
            """)

    @OptionGroup var options: ConfigurationOptions
    @Argument(help: "The user.") var name: String

    func run() throws {
        let (configuration, store) = try options.openStore()
        let stored = try UserCommand.existing(name, in: store, or: configuration)
        try UserCommand.write(stored.name, in: store) { _ in
            var user = try UserCommand.existing(name, in: store, or: configuration)
            user.disabledAt = user.disabledAt ?? Site.now()
            user.endCredentials()
            return user
        }
        // They count no more. That their records are gone is for those who look.
        _ = try store.removeSessions(owner: stored.owner)
        _ = try store.removeAppTokens(owner: stored.owner)
        print("disabled \(stored.name)")
    }
}

/// `app-backend user enable`
struct UserEnableCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable", abstract: "Let a user log in again who was disabled, or whose time is over.")

    @OptionGroup var options: ConfigurationOptions
    @Argument(help: "The user.") var name: String

    func run() throws {
        let (configuration, store) = try options.openStore()
        let stored = try UserCommand.existing(name, in: store, or: configuration).name
        try UserCommand.write(stored, in: store) { _ in
            var user = try UserCommand.existing(name, in: store, or: configuration)
            user.disabledAt = nil
            let now = Site.now()
            if let end = user.expiresAt, end <= now { user.setEnd(nil, now: now) }
            return user
        }
        print("enabled \(stored)")
    }
}
