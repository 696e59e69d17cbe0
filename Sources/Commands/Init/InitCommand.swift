// SPDX-License-Identifier: Apache-2.0
import AppBackend
import ArgumentParser
import Glibc
import Server
import System
import WebPush

/// `app-backend init`
struct InitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Set a site up: the address for push services, the key for browsers, the first user.",
        discussion: """
            Asks on a terminal for what no option says. The configuration file is made where it is missing, and keeps all that \
            it has. A key and a user that are there are kept, so the command can be run again. The user's password is read as \
            by `user add`: from the terminal, or as one line from standard input.
            """)

    @OptionGroup var options: ConfigurationOptions
    @Option(help: "Where push services find a person: a mail address, mailto:… or https://….") var subject: String?
    @Option(help: "The first user.") var user: String?

    /// Each step is a program of its own, because a command of root's becomes the store's owner for good.
    private static let script = """
        set -eu
        program=$1 config=$2 user=$3 pushes=$4
        [ "$pushes" = no ] || "$program" keys vapid --config "$config"
        if "$program" user show "$user" --config "$config" > /dev/null 2>&1; then
            printf 'There is a user %s already.\\n' "$user"
        else
            "$program" user add "$user" --config "$config"
        fi
        "$program" check --config "$config"
        printf 'Next: restart the service, and ask what is missing by app-backend doctor --url https://YOUR.SITE\\n'
        """

    func run() throws {
        let path = options.file ?? ConfigurationFile.defaultPath() ?? Self.path
        if access(path, F_OK) != 0 {
            guard errno == ENOENT else { throw CommandError("\(path): \(systemErrorText())") }
            try ConfigurationDraft.write(Self.draft(beside: path), to: path)
            Terminal.printError("made \(path)")
        }
        var options = options
        options.file = path
        let site = try options.load()
        let pushes = site.hub.connection == nil && site.hub.platforms.contains(.browser)
        if pushes, site.webPush.subject == nil { try addSubject(to: path) }
        let name = try user ?? Terminal.ask("The first user's name: ", orGive: "--user")
        _ = try UserAdministration.checked(name)
        throw ShellScript.become(
            Self.script, [ConfigurationFile.executable, path, name, pushes ? "yes" : "no"])
    }

    /// Where the package has its configuration.
    private static let path = "/etc/app-backend/app-backend.json"

    /// The package's store is where systemd keeps a service's state; any other is beside its configuration.
    private static func draft(beside path: String) -> ConfigurationDraft {
        ConfigurationDraft(store: path == Self.path ? "/var/lib/app-backend" : "store")
    }

    private func addSubject(to path: String) throws {
        var text = try subject ?? Terminal.ask("Your mail address, for push services: ", orGive: "--subject")
        if !text.contains(":") { text = "mailto:" + text }
        do throws(VAPIDSubject.Malformed) {
            _ = try VAPIDSubject(text)
        } catch {
            throw CommandError("--subject \(error)")
        }
        guard let bytes = ConfigurationFile.read(path), var draft = ConfigurationDraft(bytes),
            draft.add("webPush", #"{ "subject": "\#(text)" }"#)
        else { throw CommandError("\(path) has a group webPush: add \"subject\": \"\(text)\" to it.") }
        try ConfigurationDraft.write(draft, to: path)
        Terminal.printError("wrote webPush.subject into \(path)")
    }
}
