// SPDX-License-Identifier: Apache-2.0
import AppBackend
import ArgumentParser
import Server
import Store

/// `app-backend user import-htpasswd`: brings users along with their hashes.
struct UserImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import-htpasswd",
        abstract: "Add the users of a file of lines `name:hash`, as htpasswd -B and /etc/shadow have them.",
        discussion: """
            Accepted are yescrypt ($y$), bcrypt ($2a$, $2b$, $2y$) and SHA-512 ($6$). A line that is refused is named, \
            the others are imported; the exit status is 1 when any was refused. Of a user who gets another hash log-ins by \
            cookie end, and app tokens unless these are kept.
            """)

    @OptionGroup var options: ConfigurationOptions
    @Flag(help: "Replace the hashes of users that there are already.") var replace = false
    @Flag(help: "Let the app tokens of users go on who get another hash.") var keepTokens = false
    @Argument(help: "The file; - for standard input.") var file: String

    func run() throws {
        guard let bytes = ConfigurationFile.read(file == "-" ? "/dev/stdin" : file) else {
            throw CommandError("\(file) cannot be read.")
        }
        let (configuration, store) = try options.openStore()
        let administration = UserCommand.administration(configuration, store)
        var refused = 0
        for (index, line) in String(decoding: bytes, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false
        ).enumerated() where !line.isEmpty && !line.hasPrefix("#") {
            if let reason = try importLine(line, by: administration, into: store) {
                Terminal.printError("\(file):\(index + 1): \(reason)")
                refused += 1
            }
        }
        if refused > 0 { throw ExitCode(1) }
    }

    /// - Returns: why the line was refused; nil when its user was imported.
    private func importLine(
        _ line: Substring, by administration: UserAdministration, into store: any SiteStore
    ) throws -> String? {
        let fields = line.split(separator: ":", omittingEmptySubsequences: false)
        guard fields.count >= 2, let name = UserName(new: String(fields[0])) else { return "not a name and a hash" }
        let hash = String(fields[1].prefix { $0 != "\r" })
        guard PasswordHash.isAccepted(hash) else { return "the hash is not of an accepted kind" }
        guard PasswordHash.isAffordable(hash) else { return PasswordHash.tooCostly }
        var told = ""
        do {
            if replace, let present = try store.user(name.description) {
                // The same one once more changes nothing: files are imported again and again.
                if present.passwordHash != hash {
                    told = try UserCommand.setPassword(
                        hash, of: present.name, keepingTokens: keepTokens, in: store)
                }
            } else {
                _ = try administration.add(name.description, passwordHash: hash)
            }
        } catch AdministrationError.isThere {
            return "there is a user \(name) already; --replace replaces the hash"
        }
        print("imported \(name)" + told)
        return nil
    }
}
