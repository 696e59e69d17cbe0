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
            roles=$("$program" user show "$user" --config "$config" | sed -n 's/^roles: //p')
            [ -z "$role" ] || case " $roles " in
                *" $role "*) ;;
                *) printf 'To give them the role: app-backend user change %s --role %s\\n' "$user" "$role" ;;
            esac
        else
            "$program" user add "$user" ${role:+--role "$role"} --config "$config"
        fi
        "$program" check --config "$config"
        [ -z "$role" ] || printf 'The page /admin is served where nginx includes snippets/app-backend-root.conf.\\n'
        printf 'Next: restart the service, and ask what is missing by app-backend doctor --url https://YOUR.SITE\\n'
        """

    func run() throws {
        let path = options.file ?? ConfigurationFile.defaultPath() ?? ConfigurationFile.systemPath
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
        if pushes, site.webPush.subject == nil {
            try addSubject(to: path)
        } else if let subject {
            try judge(subject, beside: pushes ? site.webPush.subject : nil)
        }
        let name = try user ?? Terminal.ask("The first user's name: ", orGive: "--user")
        _ = try UserAdministration.checked(name)
        let role = try mayAdminister(name) ? administrators(of: site, in: path) : ""
        throw ShellScript.become(
            Self.script, [ConfigurationFile.executable, path, name, pushes ? "yes" : "no", role])
    }

    /// The package's store is where systemd keeps a service's state; any other is beside its configuration.
    private static func draft(beside path: String) -> ConfigurationDraft {
        ConfigurationDraft(store: path == ConfigurationFile.systemPath ? ServiceUnit.stateFolder : "store")
    }

    private func addSubject(to path: String) throws {
        // Before a person is asked.
        if access(path, W_OK) != 0, errno == EROFS { throw ConfigurationDraft.failure(path) }
        let text = try Self.checked(
            try subject ?? Terminal.ask("Your mail address, for push services: ", orGive: "--subject"))
        try add("webPush", #"{ "subject": "\#(text)" }"#, or: #""subject": "\#(text)""#, to: path)
    }

    /// - Returns: the address with its scheme.
    private static func checked(_ subject: String) throws(CommandError) -> VAPIDSubject {
        do throws(VAPIDSubject.Malformed) {
            return try VAPIDSubject(subject.contains(":") ? subject : "mailto:" + subject)
        } catch {
            throw CommandError("--subject \(error)")
        }
    }

    /// Says that an address is not used, where it is not the one that the site has.
    /// - Parameter present: the site's; nil: it pushes to no browsers.
    private func judge(_ subject: String, beside present: VAPIDSubject?) throws {
        let wanted = try Self.checked(subject)
        guard let present else {
            return Terminal.printError("--subject is not used: this site does not push to browsers itself.")
        }
        if wanted != present {
            Terminal.printError("--subject is not used: webPush.subject is \(present) already; change it there.")
        }
    }

    private func mayAdminister(_ name: String) throws -> Bool {
        if let administer { return administer }
        guard isatty(STDIN_FILENO) == 1 else { return false }
        return try Terminal.confirm("May \(name) administer, at /admin", orGive: "--administer")
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
