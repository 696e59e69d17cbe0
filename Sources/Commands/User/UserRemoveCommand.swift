// SPDX-License-Identifier: Apache-2.0
import AppBackend
import ArgumentParser
import Glibc
import Store

/// `app-backend user remove`
struct UserRemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove a user, with all that is theirs.",
        discussion: """
            They cannot log in any more, and their sessions end. Their devices, registrations at the hub, secrets, \
            idempotency keys and remembered sends are removed. A new user of the same name gets none of it. What cannot \
            be reached at the hub is named, and the exit status is 4; the service goes on with it, and so does this \
            command when it is given again. It asks first on a terminal. `user disable` ends only the log-in.
            """)

    @OptionGroup var options: ConfigurationOptions
    @Flag(help: "Keep all of it, for the next user of the same name; only the log-in ends.") var keepData = false
    @Flag(help: "Do not ask.") var yes = false
    @Argument(help: "The user.") var name: String

    func run() throws {
        let (configuration, site, store) = try UserCommand.site(options)
        defer { site.close() }
        let administration = UserCommand.administration(configuration, store)
        try UserCommand.warn(ofOnlyAdministrator: name, administration)
        if !yes, isatty(STDIN_FILENO) == 1 {
            let what = keepData ? "" : " with all that is theirs, for good"
            Terminal.printError("`app-backend user disable \(name)` ends only the log-in, and can be undone.")
            guard try Terminal.confirm("Remove \(name)\(what)", orGive: "--yes") else {
                throw CommandError("Nothing was removed.")
            }
        }
        let remains = try administration.remove(name, keepingData: keepData, by: site.upkeep)
        print("removed \(name)" + (remains.summary.isEmpty ? "" : ": " + remains.summary))
        try UserCommand.finish(remains) { "\($0) could not be removed at the hub: \($1); the service retries" }
    }
}

extension UserRemains {
    /// Empty when nothing was found.
    fileprivate var summary: String {
        [
            (devices, "device", "devices"), (sessions, "session", "sessions"),
            (tokens, "app token", "app tokens"), (secrets, "secret", "secrets"),
            (keys, "idempotency key", "idempotency keys"), (sends, "send", "sends"),
        ].filter { $0.0 > 0 }.map { UserCommand.counted($0.0, $0.1, $0.2) }.joined(separator: ", ")
    }
}
