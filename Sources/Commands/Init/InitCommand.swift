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
            by `user add`: from the terminal, or as one line from standard input. Without a terminal the user may \
            administer only with --administer.
            """)

    @OptionGroup var options: ConfigurationOptions
    @Option(help: "Where push services find a person: a mail address, mailto:… or https://….") var subject: String?
    @Option(help: "The first user.") var user: String?
    @Flag(inversion: .prefixedNo, help: "Let the first user administer, at the site's page /admin.")
    var administer: Bool?

    /// Each step is a program of its own, because a command of root's becomes the store's owner for good.
    private static let script = """
        set -eu
        program=$1 config=$2 user=$3 pushes=$4 role=$5
        [ "$pushes" = no ] || "$program" keys vapid --config "$config"
        if "$program" user show "$user" --config "$config" > /dev/null 2>&1; then
            printf 'There is a user %s already.\\n' "$user"
            [ -z "$role" ] || printf 'To give them the role: app-backend user change %s --role %s\\n' "$user" "$role"
        else
            "$program" user add "$user" ${role:+--role "$role"} --config "$config"
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
        if let fault = site.channelFaults.first(where: { $0.key == "webPush.subject" && site.webPush.subject == nil }),
            fault.reason != PushService.missingSubject
        {
            throw CommandError(fault.description)
        }
        let pushes = site.hub.connection == nil && site.hub.platforms.contains(.browser)
        if pushes, site.webPush.subject == nil { try addSubject(to: path) }
        let name = try user ?? Terminal.ask("The first user's name: ", orGive: "--user")
        _ = try UserAdministration.checked(name)
        let role = try mayAdminister(name) ? administrators(of: site, in: path) : ""
        throw ShellScript.become(
            Self.script, [ConfigurationFile.executable, path, name, pushes ? "yes" : "no", role])
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
        try add("webPush", #"{ "subject": "\#(text)" }"#, or: #""subject": "\#(text)""#, to: path)
    }

    private func mayAdminister(_ name: String) throws -> Bool {
        if let administer { return administer }
        guard isatty(STDIN_FILENO) == 1 else { return false }
        switch try Terminal.ask("May \(name) administer, at /admin (y or n)? ", orGive: "--administer").lowercased() {
        case "y", "yes": return true
        case "n", "no": return false
        default: throw CommandError("The answer must be y or n.")
        }
    }

    /// The name of a role whose users may administer, which is added where the configuration has none.
    private func administrators(of site: SiteConfiguration, in path: String) throws -> String {
        if let role = site.policy.roles.first(where: \.administers) { return role.name }
        let name = "administrator"
        let role = #"{ "name": "\#(name)", "administer": true }"#
        try add("roles", "[ \(role) ]", or: role, to: path)
        return name
    }

    /// Adds a group to the configuration.
    /// - Parameter member: what a person adds to a group of that name that is there.
    /// - Throws: `CommandError`, where there is one.
    private func add(_ group: String, _ json: String, or member: String, to path: String) throws {
        guard let bytes = ConfigurationFile.read(path), var draft = ConfigurationDraft(bytes), draft.add(group, json)
        else { throw CommandError("\(path) has a group \(group): add \(member) to it.") }
        try ConfigurationDraft.write(draft, to: path)
        Terminal.printError("wrote \(group) into \(path)")
    }
}
