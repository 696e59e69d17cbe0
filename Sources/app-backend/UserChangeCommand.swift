// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Store

/// `app-backend user change`
struct UserChangeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "change", abstract: "Change what a user may claim and whom he may send to.",
        discussion: """
            What is given stands in the place of what he had; what is not given stays. It counts from his next request on, \
            and devices keep the tags that they were registered with.
            """)

    @OptionGroup var options: ConfigurationOptions
    @Argument(help: "The user.") var name: String
    @Option(name: .customLong("tag"), help: "A pattern of tags that the user may claim; may be repeated.")
    var tags: [String] = []
    @Option(name: .customLong("send-to"), help: "A pattern of users that he may send to; may be repeated.")
    var sendTo: [String] = []
    @Flag(help: "Let the configuration decide which tags he may claim.") var defaultTags = false
    @Flag(help: "Let the configuration decide whom he may send to.") var defaultSendTo = false

    @Flag(inversion: .prefixedNo, help: "Let no plain text of the user, or for the user, go through push services.")
    var secureOnly: Bool?

    func validate() throws {
        if tags.isEmpty && sendTo.isEmpty && !defaultTags && !defaultSendTo && secureOnly == nil {
            throw ValidationError("Nothing is to be changed: --help lists what can be.")
        }
        if !tags.isEmpty && defaultTags || !sendTo.isEmpty && defaultSendTo {
            throw ValidationError("Patterns and the configuration's exclude each other.")
        }
    }

    func run() throws {
        let store = try UserCommand.store(options)
        var user = try UserCommand.existing(name, in: store)
        if !tags.isEmpty || defaultTags { user.tags = defaultTags ? nil : tags }
        if !sendTo.isEmpty || defaultSendTo { user.sendTo = defaultSendTo ? nil : sendTo }
        if let secureOnly { user.isSecureOnly = secureOnly }
        _ = try store.putUser(user)
        print("changed \(user.name)")
    }
}
