// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Server
import Store
import Text

/// `app-backend user change`
struct UserChangeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "change", abstract: "Change a user's permissions.",
        discussion: """
            What is given takes the place of what they had; what is not given stays. It counts from their next request on. \
            With --tag, --default-tags, --role or --no-roles their devices lose the tags that they may not claim any \
            more. What cannot be reached at the hub is named, and the exit status is 4; the service goes on with it.
            """)

    @OptionGroup var options: ConfigurationOptions
    @Argument(help: "The user.") var name: String
    @Option(name: .customLong("tag"), help: "A pattern of tags that the user may claim; may be repeated.")
    var tags: [String] = []
    @Option(name: .customLong("send-to"), help: "A pattern of users that this user may send to; may be repeated.")
    var sendTo: [String] = []
    @Flag(help: "Let the configuration decide which tags the user may claim.") var defaultTags = false
    @Flag(help: "Let the configuration decide which users the user may send to.") var defaultSendTo = false

    @Option(name: .customLong("role"), help: "A role of the configuration; may be repeated.")
    var roles: [String] = []
    @Flag(help: "Take all roles away.") var noRoles = false

    @Option(help: "Until when they may log in: 2027-12-31, in UTC, or 2027-12-31T18:00:00Z; never: without end.")
    var expires: String?

    @Flag(inversion: .prefixedNo, help: "Let no plain text of the user, or for the user, go through push services.")
    var secureOnly: Bool?

    func validate() throws {
        if !changesTags && sendTo.isEmpty && !defaultSendTo && secureOnly == nil && expires == nil {
            throw ValidationError("Nothing is to be changed: --help lists what can be.")
        }
        if !tags.isEmpty && defaultTags || !sendTo.isEmpty && defaultSendTo {
            throw ValidationError("Patterns and the configuration's exclude each other.")
        }
        try UserCommand.check(patterns: tags + sendTo)
        if !roles.isEmpty && noRoles { throw ValidationError("--role and --no-roles exclude each other.") }
        if let expires, expires != Self.never, Self.time(expires) == nil {
            throw ValidationError("--expires takes a day or a moment: 2027-12-31, 2027-12-31T18:00:00Z, or never.")
        }
    }

    /// Whether it may be another set of tags that the user may claim.
    private var changesTags: Bool { !tags.isEmpty || defaultTags || !roles.isEmpty || noRoles }

    func run() throws {
        let (configuration, site, store) = try UserCommand.site(options)
        defer { site.close() }
        try UserCommand.administration(configuration, store).check(roles)
        let changed = { try change(try UserCommand.existing(name, in: store, or: configuration)) }
        let stored = try UserCommand.existing(name, in: store, or: configuration).name
        guard changesTags else {
            try store.changeUser(stored) { _ in try changed() }
            return print("changed \(stored)")
        }
        for _ in 0..<User.maximumAttempts {
            guard let remains = try site.upkeep.change(try changed()) else { continue }
            let devices = UserCommand.counted(remains.devices, "device has", "devices have")
            print("changed \(stored)" + (remains.devices == 0 ? "" : ": \(devices) lost tags"))
            return try UserCommand.finish(remains) {
                "\($0) could not be changed at the hub: \($1); the service retries"
            }
        }
        throw StoreError.conflict
    }

    /// The user with the new rights.
    private func change(_ user: User) throws -> User {
        var user = user
        if !roles.isEmpty || noRoles { user.roles = roles }
        if !tags.isEmpty || defaultTags { user.tags = defaultTags ? nil : tags }
        if !sendTo.isEmpty || defaultSendTo { user.sendTo = defaultSendTo ? nil : sendTo }
        if let secureOnly { user.isSecureOnly = secureOnly }
        if let expires { user.setEnd(Self.time(expires), now: Site.now()) }
        return user
    }

    private static let never = "never"

    /// Nil for what is no time; of a day its end.
    private static func time(_ text: String) -> Timestamp? {
        Timestamp(rfc3339: text) ?? Timestamp(text: text + "T00:00:00Z").map { $0 + 86_400 }
    }
}
