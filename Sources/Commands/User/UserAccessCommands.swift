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
        let administration = UserCommand.administration(configuration, store)
        try UserCommand.warn(ofOnlyAdministrator: name, administration)
        print("disabled \(try administration.disable(name).name)")
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
        print("enabled \(try UserCommand.administration(configuration, store).enable(name).name)")
    }
}
